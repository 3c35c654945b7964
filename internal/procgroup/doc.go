// Package procgroup starts programs, bounds what they may leave, and ends them with all that
// they have started: plugins (host), tools that are commands or MCP servers (runner), and
// engines (provider/pi).
//
//	p, err := procgroup.Start(procgroup.Program{Path: path, Args: args, Env: procgroup.Environment(), Stderr: tail})
//	…                                     // speak with it by p.Stdin and p.Stdout
//	how := p.Wait(ctx, 10*time.Second)    // until it ends, or ctx does
//
// A program leads a session, and so a process group, of its own: it has no terminal, and one
// signal reaches all of the group. It gets no file of ours and, of our environment, five
// variables. Whatever it was given as Stdin, and whatever wants what it writes, is connected by
// pipes; what the Program leaves open the caller reads and writes himself.
//
//	Start ──▶ runs ──it ends──────────────────────────▶ the rest of its group is killed ──▶ Exited ──▶ Closed
//	            └──End: SIGTERM to the group──grace──────▶┘    once its output is read         pipes, at most 200 ms
//
// Nobody has to wait for what a program leaves behind: its pipes are read for PipeGrace after
// its end at the most. An asked program, and each of its group, has the whole grace. Who would
// be asked otherwise first, by the end of Stdin or in words, is asked by the caller.
//
// On Linux a program does not outlive us, however we end, and what has left its group is found
// by a variable that it was born with (Marked, EndMarked); the host adds control groups, which
// nothing leaves. On other systems a program notices the end of its standard input.
//
// A machine may have too little for one more program at the moment (Scarce); Patiently tries
// again. What a program printed last is kept (Tail). Whether a process of long ago still runs
// is told from those that were given its number since (LifeOf), also by a note in a file (Note).
package procgroup
