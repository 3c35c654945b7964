// Package pitest plays what a Pi said once: a test's own binary takes the place of Pi's
// program, and is driven like it.
//
//	func TestMain(m *testing.M) {
//		if code, is := pitest.Main(os.Args); is {
//			os.Exit(code)
//		}
//		os.Exit(m.Run())
//	}
//
//	command := pitest.Command(self, "testdata/1.5/overloaded.txt", filepath.Join(t.TempDir(), "place"))
//
// A test that starts it often makes a program of its own of [Main].
//
// What the real ones said to every fault is recorded in provider/pi/testdata. Where a test
// wants the real ones themselves, [Real] has them and [Models] tells them where to ask.
package pitest
