package health

import "time"

var NextDay = nextDay

func (h *Health) SetPatience(d time.Duration) { h.shared.patience = d }

var Lock = lock
