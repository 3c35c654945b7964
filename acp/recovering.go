package acp

import (
	"fmt"

	protocol "github.com/coder/acp-go-sdk"
)

// tell reports a recovery in progress: as a notice if the client supports those, else as the
// title of a tool call that lasts until the recovery is over. Past recoveries are not reported.
func (t *turn) tell(line string) {
	if line == "" || t.replaying {
		return
	}
	if t.agent.able().Session.Notices {
		t.update(map[string]any{"sessionUpdate": "notice", "severity": "warning", "title": line})
		return
	}
	if t.recovering == "" {
		t.recoveries++
		t.recovering = fmt.Sprintf("%s/recovery-%d-%d", t.run, t.state.Seq, t.recoveries)
		t.update(protocol.StartToolCall(protocol.ToolCallId(t.recovering), line,
			protocol.WithStartKind(protocol.ToolKindOther), protocol.WithStartStatus(protocol.ToolCallStatusInProgress)))
		return
	}
	t.update(protocol.UpdateToolCall(protocol.ToolCallId(t.recovering), protocol.WithUpdateTitle(line)))
}

// recovered reports that the recovery has succeeded.
func (t *turn) recovered(line string) {
	if t.agent.able().Session.Notices {
		t.tell(line)
	}
	t.closes(line, protocol.ToolCallStatusCompleted)
}

// gaveUp reports that the recovery has failed.
func (t *turn) gaveUp() { t.closes("", protocol.ToolCallStatusFailed) }

func (t *turn) closes(line string, status protocol.ToolCallStatus) {
	if t.recovering == "" {
		return
	}
	how := []protocol.ToolCallUpdateOpt{protocol.WithUpdateStatus(status)}
	if line != "" {
		how = append(how, protocol.WithUpdateTitle(line))
	}
	t.update(protocol.UpdateToolCall(protocol.ToolCallId(t.recovering), how...))
	t.recovering = ""
}
