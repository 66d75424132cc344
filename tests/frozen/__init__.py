"""What users see of the whole product, frozen in a file: cases, and the file that has their answers."""
