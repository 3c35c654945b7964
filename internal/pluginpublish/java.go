package pluginpublish

import (
	"encoding/xml"
	"strings"
)

// pom is what is read of pom.xml.
type pom struct {
	GroupID  string `xml:"groupId"`
	Version  string `xml:"version"`
	Licenses []struct {
		Name string `xml:"name"`
	} `xml:"licenses>license"`
}

// java: a plugin in Java is installed as a folder or an archive, since a jar does not say how it starts.
func (r *Report) java(f *folder) {
	const file = "pom.xml"
	var p pom
	if err := xml.Unmarshal([]byte(f.read(file)), &p); err != nil {
		r.add(file, true, "it cannot be read: %v", err)
		return
	}
	r.add("groupId in "+file, p.GroupID == "" || strings.HasPrefix(p.GroupID, "com.example"), "%q is nobody's: use a domain of yours", p.GroupID)
	r.add("licenses in "+file, len(p.Licenses) == 0, "they are not there")
	r.sameVersion(f, file, p.Version)
}
