import Foundation
import Testing

extension Interop {
    /// Tests several services and queries in one process. Also tests what other hosts see when the process ends.
    @Suite("Bonjour in one process", .enabled(if: TwoHosts.isAvailable, "needs root and ip"))
    struct BonjourProcessTests {
        private static let type = "_nwagain._tcp"

        @Test("C58: three listeners of one process that claim one name get three names, as three processes would")
        func oneNameThrice() async throws {
            try await TwoHosts.run { hosts, scratch in
                let program = try scratch.start(
                    try Built.program("NetServiceProgram"), ["--thrice", "Same"], on: hosts.near)
                try await eventually("all are registered: \(program.text)") {
                    program.text.split(separator: "\n").count == 3
                }
                // Each output line contains a service name and a port.
                let lines = Set(
                    program.text.split(separator: "\n").map { $0.split(separator: " at ").map(String.init) })
                let names = ["Same", "Same (2)", "Same (3)"]
                #expect(Set(lines.map { $0[0] }) == Set(names) && Set(lines.map { $0[1] }).count == 3)
                for line in lines {
                    let query = try scratch.start(
                        try Built.nw(), ["query", "\(line[0]).\(Self.type).local", "SRV", "-t", "1"], on: hosts.far)
                    #expect(try await query.finished() == 0, "\(query.errors)")
                    let ports = query.text.split(separator: "\n").filter { $0.contains(" SRV 0 0 ") }
                    #expect(ports.count == 1 && ports[0].contains(" SRV 0 0 \(line[1]) "), "\(query.text)")
                }
            }
        }

        @Test(
            "C21: a question that is sent to a host by unicast is answered by the process that has the name, old or new"
        )
        func unicastToProcesses() async throws {
            try await TwoHosts.run { hosts, scratch in
                let names = ["First", "Second", "Third"]
                for name in names {
                    let nw = try scratch.start(try Built.nw(), ["register", name, Self.type, "9"], on: hosts.far)
                    try await nw.prints("registered as \(name)\n")
                }
                for port in ["5353", "40000"] {
                    for name in names {
                        let words = ["-c", Self.asking, TwoHosts.near4, port, TwoHosts.far4, name]
                        let asker = try scratch.start("/usr/bin/python3", words, on: hosts.near)
                        #expect(try await asker.finished() == 0, "\(name) to port \(port): \(asker.errors)")
                        #expect(asker.text == "\(TwoHosts.far4) 1\n", "\(name) to port \(port): \(asker.text)")
                    }
                }
            }
        }

        /// A script that asks a host for an SRV record, at most ten times. It prints the address that sent the answer,
        /// and the number of records in the answer.
        private static let asking = """
            import socket, struct, sys
            near, port, far, name = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
            labels = [name, "_nwagain", "_tcp", "local"]
            question = b"".join(bytes([len(l)]) + l.encode() for l in labels) + b"\\0" + struct.pack(">2H", 33, 1)
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind((near, port))
            s.settimeout(2)
            for _ in range(10):
                s.sendto(struct.pack(">6H", 0, 0, 1, 0, 0, 0) + question, (far, 5353))
                try:
                    answer, sender = s.recvfrom(9000)
                    print(sender[0], struct.unpack(">H", answer[6:8])[0])
                    sys.exit(0)
                except socket.timeout: pass
            sys.exit("no answer")
            """

        @Test("A program that browses again gets the cached services at once, although no host answers")
        func browsesAgain() async throws {
            try await TwoHosts.run { hosts, scratch in
                let far = try scratch.start(try Built.nw(), ["register", "Known", Self.type, "9"], on: hosts.far)
                try await far.prints("registered as Known\n")
                let program = try scratch.start(
                    try Built.program("NetServiceProgram"), ["--again"], on: hosts.near, input: .held)
                try await program.prints("found Known 1\n")
                kill(try far.program(), SIGSTOP)
                try program.write("\n")
                try await program.prints("found Known 1\nfound Known 2\n")
                kill(try far.program(), SIGCONT)
            }
        }

        @Test(
            "C62 C113: nw serve and nw register send a goodbye when a signal ends them",
            arguments: ["serve", "register"], [SIGHUP, SIGINT, SIGTERM])
        func signals(_ command: String, _ signal: CInt) async throws {
            try await TwoHosts.run { hosts, scratch in
                let browser = try scratch.start(try Built.nw(), ["browse", "_echo._tcp"], on: hosts.near)
                let words = ["serve": ["echo", "--port", "7007", "--advertise", "Leaver"]]
                let server = try scratch.start(
                    try Built.nw(), [command] + (words[command] ?? ["Leaver", "_echo._tcp", "9"]), on: hosts.far)
                try await eventually("it is found: \(server.text)") { browser.text.hasPrefix("+ Leaver ") }
                kill(try server.program(), signal)
                #expect(try await server.finished() == 128 + signal, "\(server.errors)")
                // The time is too short for the service to expire from the cache, which takes more than an hour. So it
                // can only be removed by a goodbye.
                try await eventually("it is removed: \(browser.text)") { browser.text.contains("\n- Leaver ") }
            }
        }

        @Test(
            "nw doctor lists only the daemons in its network namespace",
            .enabled(if: Avahi.isAvailable, "avahi-daemon is not installed"))
        func doctor() async throws {
            try await TwoHosts.run { hosts, scratch in
                _ = try await Avahi.start(on: hosts.far, scratch)
                for (host, expected) in [(hosts.near, "daemons: none\n"), (hosts.far, "daemons: avahi-daemon\n")] {
                    let doctor = try scratch.start(try Built.nw(), ["doctor", "-t", "0.2"], on: host)
                    _ = try await doctor.finished()
                    #expect(doctor.text.contains(expected), "\(doctor.text)")
                }
            }
        }
    }
}
