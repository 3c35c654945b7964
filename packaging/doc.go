// Package packaging holds what a release is made of beside the program: the image, compose's files and the
// load balancer of one of them, the chart, the unit of systemd, the configuration that packages install,
// and the script that makes what they have besides. Its tests hold these files to the program.
package packaging
