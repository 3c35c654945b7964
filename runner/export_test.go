package runner

// HearTime is how long who sent a command waits for its run's owner to answer it.
const HearTime = hearTime
