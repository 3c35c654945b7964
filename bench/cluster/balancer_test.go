package cluster

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/bench/internal/loopback"
	"github.com/mulligan-run/mulligan/internal/needs"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// TestBalancer begins and follows a run through the load balancer of packaging, and kills the
// member that drives it in the middle of an answer: the answer continues, and a browser stays
// signed in whichever member serves it.
func TestBalancer(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program, and starts three of it")
	}
	needs.Programs(t, "members behind a load balancer", "haproxy")
	site := loopback.Free(t)
	c := newCluster(t, "--allow-host", site)
	balancer := c.balance(site)
	cookie := c.signIn(c.members[1], site)
	for _, m := range c.members {
		c.signedIn(m.url, site, cookie)
	}
	run := c.beginAt(balancer, balancer)
	owner := c.ownerOf(run)
	shown := c.echo(run.run, balancer, func(string, ...any) {})
	c.eventually("it speaks", run.speaks)
	old, then := run.owner(), time.Now()
	c.members[owner].signal(syscall.SIGKILL)
	c.members[owner].gone()
	c.eventually("another member goes on", func() bool {
		_, _, ok := run.after(then)
		return ok
	})
	if now := run.owner(); now.Owner == old.Owner || now.Epoch <= old.Epoch {
		t.Errorf("I34: %+v has it after %+v", now, old)
	}
	for range len(c.members) {
		c.signedIn("http://"+site, site, cookie)
	}
	<-run.ended
	c.check(run)
	if text := <-shown; text != sentence {
		t.Errorf("I09: who follows through the balancer sees %q in the end", text)
	}
}

// balance starts haproxy in front of the members, and returns it as if it were a member.
func (c *cluster) balance(site string) *member {
	c.Helper()
	cmd := exec.CommandContext(c.all, "haproxy", "-f", filepath.Join("..", "..", "packaging", "haproxy.cfg"))
	cmd.Env = append(os.Environ(), "LISTEN="+site, "SITE="+site)
	for i, m := range c.members {
		cmd.Env = append(cmd.Env, "MEMBER_"+strings.ToUpper(letters[i])+"="+strings.TrimPrefix(m.url, "http://"))
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if c.Failed() {
			c.Logf("the balancer said:\n%s", &said)
		}
	})
	first := c.members[0]
	asking, err := client.New("http://"+site, client.WithToken(first.token))
	if err != nil {
		c.Fatal(err)
	}
	c.eventually("the balancer answers", func() bool {
		conn, err := net.Dial("tcp", site)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return &member{cluster: c, url: "http://" + site, token: first.token, client: asking}
}

// signIn signs in at a member's page through the balancer at site.
func (c *cluster) signIn(at *member, site string) *http.Cookie {
	c.Helper()
	_, code, _ := strings.Cut(at.invitation("http://"+site), "#code=")
	resp, err := http.Post("http://"+site+"/v1/login", "application/json", strings.NewReader(`{"code":"`+code+`"}`))
	if err != nil {
		c.Fatal(err)
	}
	_ = resp.Body.Close()
	if len(resp.Cookies()) != 1 {
		c.Fatalf("signing in is answered with %s", resp.Status)
	}
	return resp.Cookies()[0]
}

// signedIn requires that the page at site still knows the browser with that cookie.
func (c *cluster) signedIn(url, site string, cookie *http.Cookie) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), http.MethodGet, url+"/v1/runs", nil)
	if err != nil {
		c.Fatal(err)
	}
	req.Host = site
	req.AddCookie(cookie)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		c.Errorf("S03: who signed in at %s is answered by %s with %s", site, url, resp.Status)
	}
}
