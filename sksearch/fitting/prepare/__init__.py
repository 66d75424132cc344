"""The first stage of a fit: options, checks, aims, folds, plan; nothing is trained."""
