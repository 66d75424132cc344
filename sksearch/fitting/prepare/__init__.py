"""The first stage of a fit, without training: options, checks, objectives, folds and plan."""
