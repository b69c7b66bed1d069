import Foundation
import Testing

extension Interop {
    /// Runs `nw group` and Python's sockets on two hosts that share one link.
    @Suite(
        "Multicast groups", .enabled(if: TwoHosts.isAvailable && PythonMember.path != nil, "needs root, ip and python3")
    )
    struct MulticastTests {
        struct Family: CustomTestStringConvertible, Sendable {
            var group: String
            var near: String
            var far: String
            var other: String

            var testDescription: String { group.contains(":") ? "IPv6" : "IPv4" }

            static let all = [
                Family(group: "239.255.77.7", near: TwoHosts.near4, far: TwoHosts.far4, other: TwoHosts.other4),
                Family(group: "ff05::77:7", near: TwoHosts.near6, far: TwoHosts.far6, other: TwoHosts.other6),
            ]

            /// Returns the address as `nw` prints it.
            func label(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
        }

        private static let port = "7777"

        @Test("Python sends to the group, nw prints and answers", arguments: Family.all)
        func hears(_ family: Family) async throws {
            try await TwoHosts.run { hosts, scratch in
                let nw = try await scratch.startGroup(["-d", "--echo", family.group, Self.port], on: hosts.near)
                let member = try scratch.startMember(
                    ["ask", family.group, Self.port, family.far, "hello", "again"], on: hosts.far)
                #expect(try await member.finished() == 0, "\(member.errors)")
                // nw answers a message before it prints the message.
                try await eventually("nw prints the last message") { nw.text.hasSuffix(": again\n") }
                let answers = String(decoding: member.output, as: UTF8.self)
                #expect(answers == "\(family.near) 7777 hello\n\(family.near) 7777 again\n")
                let lines = String(decoding: nw.output, as: UTF8.self).split(separator: "\n")
                #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("\(family.label(family.far)):") })
                #expect(
                    lines.first?.contains("\(family.group)") == true && lines.first?.contains(TwoHosts.link) == true)
                #expect(lines.first?.hasSuffix(": hello") == true && lines.last?.hasSuffix(": again") == true)
            }
        }

        @Test("nw sends with a hop limit of one by default, and prints the answer", arguments: Family.all, [nil, 7])
        func speaks(_ family: Family, hops: Int?) async throws {
            try await TwoHosts.run { hosts, scratch in
                let member = try scratch.startMember(["hear", family.group, Self.port, TwoHosts.link], on: hosts.far)
                try await member.prints("joined\n")
                let limit = hops.map { ["--ttl", "\($0)"] } ?? []
                let nw = try await scratch.startGroup(
                    limit + ["--no-loop", family.group, Self.port], on: hosts.near, input: .held)
                try nw.write("to all\n")
                try await member.prints("joined\nto all after \(hops ?? 1)\n")
                try await eventually("nw prints the answer") {
                    String(decoding: nw.output, as: UTF8.self).hasSuffix(": heard to all\n")
                }
                // With --no-loop, nw does not receive its own messages.
                #expect(String(decoding: nw.output, as: UTF8.self).split(separator: "\n").count == 1)
            }
        }

        @Test("Of two senders, only the requested one is received", arguments: Family.all)
        func source(_ family: Family) async throws {
            try await TwoHosts.run { hosts, scratch in
                let nw = try await scratch.startGroup(
                    ["-d", "--from", family.other, family.group, Self.port], on: hosts.near)
                for (verb, place) in [("speak", family.group), ("tell", family.near)] {
                    let outsider = try scratch.startMember([verb, place, Self.port, family.far, "no"], on: hosts.far)
                    #expect(try await outsider.finished() == 0, "\(outsider.errors)")
                }
                let member = try scratch.startMember(
                    ["speak", family.group, Self.port, family.other, "yes"], on: hosts.far)
                #expect(try await member.finished() == 0, "\(member.errors)")
                try await eventually("nw prints the last message") { nw.text.hasSuffix(": yes\n") }
                let text = String(decoding: nw.output, as: UTF8.self)
                #expect(text.hasPrefix(family.label(family.other)))
                #expect(text.split(separator: "\n").count == 1, "\(text)")
            }
        }

        @Test(
            "Unicast messages to the host are delivered, unless unicast is disabled", arguments: Family.all,
            [false, true])
        func unicast(_ family: Family, isDisabled: Bool) async throws {
            try await TwoHosts.run { hosts, scratch in
                let nw = try await scratch.startGroup(
                    (isDisabled ? ["--multicast-only"] : []) + ["-d", family.group, Self.port], on: hosts.near)
                for (verb, place) in [("tell", family.near), ("speak", family.group)] {
                    let member = try scratch.startMember([verb, place, Self.port, family.far, verb], on: hosts.far)
                    #expect(try await member.finished() == 0, "\(member.errors)")
                }
                try await eventually("nw prints the last message") { nw.text.hasSuffix(": speak\n") }
                let heard = String(decoding: nw.output, as: UTF8.self).split(separator: "\n").map { $0.suffix(5) }
                #expect(heard == (isDisabled ? ["speak"] : [" tell", "speak"]))
            }
        }

        @Test("Programs in several groups on one port receive packets of their own group only")
        func sharedPort() async throws {
            try await TwoHosts.run { hosts, scratch in
                let groups = (1...4).map { "239.255.77.\($0)" }
                var members: [Child] = []
                for group in groups {
                    members.append(try await scratch.startGroup(["-d", "--reuse", group, Self.port], on: hosts.near))
                }
                for group in groups {
                    let speaker = try scratch.startMember(
                        ["speak", group, Self.port, TwoHosts.far4, "to \(group)"], on: hosts.far)
                    #expect(try await speaker.finished() == 0, "\(speaker.errors)")
                }
                for (group, nw) in zip(groups, members) {
                    try await eventually("\(group) receives its packet: \(nw.text)") { !nw.text.isEmpty }
                    #expect(nw.text.split(separator: "\n").count == 1 && nw.text.hasSuffix(": to \(group)\n"))
                }
            }
        }

        @Test("A message longer than the maximum is delivered truncated, and reported as such", arguments: Family.all)
        func partial(_ family: Family) async throws {
            try await TwoHosts.run { hosts, scratch in
                let nw = try await scratch.startGroup(["-d", "--most", "4", family.group, Self.port], on: hosts.near)
                let member = try scratch.startMember(
                    ["speak", family.group, Self.port, family.far, "1234", "12345"], on: hosts.far)
                #expect(try await member.finished() == 0, "\(member.errors)")
                try await eventually("nw prints the last message") { nw.text.hasSuffix(": 1234 [more]\n") }
                let lines = String(decoding: nw.output, as: UTF8.self).split(separator: "\n").map(String.init)
                #expect(lines.count == 2 && lines[0].hasSuffix(": 1234") && lines[1].hasSuffix(": 1234 [more]"))
            }
        }

        @Test("A group waits for its interface, and joins again when the interface returns")
        func rejoin() async throws {
            try await TwoHosts.run { hosts, scratch in
                try hosts.ip("link set \(TwoHosts.link) down")
                let groups = Family.all.map(\.group)
                let nw = try scratch.start(
                    try Built.nw(), ["group", "-v", "-d", "--echo"] + groups + [Self.port], on: hosts.near)
                let waiting = "nw: group: waiting: Network is down\n"
                try await eventually("nw waits") { nw.errors == waiting }
                try hosts.ip("link set \(TwoHosts.link) up")
                try await eventually("nw is ready") { nw.errors == waiting + "nw: group: ready\n" }
                try hosts.ip("link set \(TwoHosts.link) down")
                try await eventually("nw waits again") {
                    nw.errors.hasSuffix(waiting) && nw.errors.count > waiting.count
                }
                try hosts.ip("link set \(TwoHosts.link) up")
                try await eventually("nw is ready again") { nw.errors.hasSuffix("nw: group: ready\n") }
                let member = try scratch.startMember(
                    ["ask", Family.all[0].group, Self.port, TwoHosts.far4, "back"], on: hosts.far)
                #expect(try await member.finished() == 0, "\(member.errors)")
                #expect(String(decoding: member.output, as: UTF8.self) == "\(TwoHosts.near4) 7777 back\n")
            }
        }
    }
}
