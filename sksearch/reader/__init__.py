"""Reader of finished searches of any library, for reports, plots and statistics."""
