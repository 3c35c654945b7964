package health

var NextDay = nextDay
