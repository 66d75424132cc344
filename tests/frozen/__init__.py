"""What users see of the whole product: cases, and the file that has what they tell."""
