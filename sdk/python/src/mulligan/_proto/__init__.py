"""Generated from proto/mulligan/v1 by generate.sh."""
