"""What Sphinx has built is not collected."""

collect_ignore_glob = ["_build/*", "gallery/*", "generated/*"]
