module github.com/mulligan-run/mulligan

go 1.26.8
