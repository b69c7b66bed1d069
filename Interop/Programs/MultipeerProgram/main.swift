// A program as written for Apple's framework, for tests between processes on several hosts.
//
// usage: MultipeerProgram NAME DIRECTORY [pick | assist | guest | SERVICE]
//
// NAME advertises and browses, invites every peer with a greater name, accepts all invitations, and reports events as lines. "pick" shows the
// browser view controller instead, "assist" asks the user about invitations, "guest" does not advertise. Received files are moved to DIRECTORY. Commands are read from
// the standard input; see `Member.perform(_:)`.
import Foundation
import MultipeerConnectivity

let started = Date()

func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

/// Returns the seconds since the start of the program, as text.
func clock() -> String { String(format: "%.3f", Date().timeIntervalSince(started)) }

let words = CommandLine.arguments
guard words.count >= 3 else {
    say("usage: MultipeerProgram NAME DIRECTORY [pick | assist | guest | SERVICE]")
    exit(64)
}
let mode = words.count > 3 ? words[3] : ""
let member = Member(words[1], URL(fileURLWithPath: words[2], isDirectory: true))
let screens = MainActor.assumeIsolated { Screens(member) }
switch mode {
case "pick": MainActor.assumeIsolated { screens.pick() }
case "assist": MainActor.assumeIsolated { screens.assist() }
case "guest": member.start("cw-accept", advertises: false)
default: member.start(mode.isEmpty ? "cw-accept" : mode)
}
if mode.isEmpty || mode == "guest" || mode.hasPrefix("cw-") {
    Thread {
        while let line = readLine() { member.perform(line.split(separator: " ").map(String.init)) }
        exit(0)
    }.start()
}
RunLoop.main.run()
