import Foundation
import Testing

/// Tests `nw transfers run --until-idle`, which programs with background sessions start.
///
/// `nw transfers get` is such a program. If it is started through a link with another name, it counts as another
/// program.
@Suite("§21: transfers while the program is away")
struct TransferAgentTests {
    /// Kills only the program itself, with SIGKILL, and waits until it has ended.
    private static func end(_ program: Child) async throws {
        kill(try program.program(), SIGKILL)
        _ = try await program.finished()
    }

    /// Waits until exactly one process is the agent that continues the transfers, and holds the agent's lock.
    private static func agent(_ rig: TransferRig) async throws -> pid_t {
        try await eventually("one process holds the lock") {
            let agents = rig.agents
            return agents.count == 1 && files(agents[0]).contains { $0.hasSuffix("/causeway/agent/agent.lock") }
        }
        return try #require(rig.agents.first)
    }

    /// The files that a process has open, by number.
    private static func files(_ process: pid_t) -> [String] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []
        return numbers.compactMap { Int($0) }.sorted().map { number in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(number)")) ?? ""
        }
    }

    /// The parent, the session and the terminal of a process.
    private static func facts(_ process: pid_t) throws -> (parent: pid_t, session: pid_t, terminal: Int) {
        let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        let words = try #require(text.split(separator: ")").last).split(separator: " ")
        return (try #require(pid_t(words[1])), try #require(pid_t(words[3])), try #require(Int(words[4])))
    }

    @Test(
        "Two programs start one process. It goes on after their kill, ends when it is idle, and they collect the files",
        arguments: [true, false])
    func goesOn(isInPath: Bool) async throws {
        try await TransferRig.run(held: 2) { rig in
            let command = try Built.nw()
            if isInPath {
                // Place another program with the same name in the first directory of `PATH`. The test checks that it is
                // not started.
                let decoy = rig.place + "/decoy"
                _ = try rig.scratch.newDirectory("decoy")
                try Data("#!/bin/sh\ntouch \(rig.place)/mistake\n".utf8).write(to: URL(fileURLWithPath: decoy + "/nw"))
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: decoy + "/nw")
                let folder = URL(fileURLWithPath: command).deletingLastPathComponent().path
                rig.environment[2] = "PATH=\(decoy):\(folder):/usr/bin:/bin"
            } else {
                rig.environment[2] = "CAUSEWAY_TRANSFERS_COMMAND=" + command
            }
            let other = rig.place + "/other"
            try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: command)
            let secret = try rig.scratch.newFile("secret")
            func start(_ program: String, _ words: String...) throws -> Child {
                // The shell opens a file as descriptor 7. The program inherits this descriptor, and programs that it
                // starts would inherit it too.
                let shell = ["-c", "exec 7<\"$0\"; exec \"$@\"", secret.path, "env"]
                return try rig.scratch.startProgram(
                    "sh", shell + rig.environment + [program, "transfers", "get"] + words)
            }
            let programs = try ["\(command)", other].map { try start($0, rig.url, "--into", rig.place) }
            for name in ["nw", "other"] { try await rig.stored(50_000, program: name) }
            let agent = try await Self.agent(rig)
            let process = try programs[0].program()
            #expect(Self.files(process).contains { $0.hasSuffix(secret.lastPathComponent) })
            let files = Self.files(agent)
            #expect(!files.contains { $0.hasSuffix(secret.lastPathComponent) })
            #expect(files.prefix(3) == ["/dev/null", "/dev/null", "/dev/null"])
            let (facts, session) = (try Self.facts(agent), try Self.facts(process).session)
            #expect(facts.parent != process && facts.session != session && facts.terminal == 0)
            #expect(facts.session != agent, "The leader of a session could get a terminal.")
            let second = try rig.nw("run", "--until-idle")
            #expect(try await second.finished() == 0 && second.text.isEmpty)
            for program in programs { try await Self.end(program) }
            try await eventually("the process has ended") { rig.agents.isEmpty }
            let listing = try rig.nw("list")
            #expect(try await listing.finished() == 0)
            #expect(listing.text.split(separator: "\n").count { $0.hasPrefix("  1  download  finished") } == 2)
            for collecting in [try start(command), try start(other)] {
                #expect(try await collecting.finished() == 0, "\(collecting.errors)")
            }
            for name in ["file.bin", "file.bin.1"] {
                #expect(try Data(contentsOf: URL(fileURLWithPath: rig.place + "/" + name)) == rig.content)
            }
            #expect(rig.log.split(separator: "\n").sorted() == ["0", "0", "50000", "50000"])
            #expect(!FileManager.default.fileExists(atPath: rig.place + "/mistake"))
            rig.release()
        }
    }

    @Test("After kill -9 of the process and of its program, the next session continues the download")
    func killed() async throws {
        try await TransferRig.run(held: 2) { rig in
            rig.environment[2] = "CAUSEWAY_TRANSFERS_COMMAND=" + (try Built.nw())
            let first = try rig.nw("get", rig.url, "--into", rig.place)
            try await rig.stored(50_000)
            let agent = try await Self.agent(rig)
            try await Self.end(first)
            try await rig.stored(100_000)
            kill(agent, SIGKILL)
            try await eventually("the process has ended") { !rig.agents.contains(agent) }
            let collecting = try rig.nw("get")
            #expect(try await collecting.finished() == 0, "\(collecting.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: rig.place + "/file.bin")) == rig.content)
            #expect(rig.log == "0\n50000\n100000\n")
            try await eventually("the process has ended") { rig.agents.isEmpty }
            rig.release()
        }
    }

    @Test(
        "Without the command, a download ends with its program and continues with the next session",
        arguments: ["", "/none/nw"])
    func missing(command: String) async throws {
        try await TransferRig.run(held: 1) { rig in
            rig.environment[2] = "CAUSEWAY_TRANSFERS_COMMAND=" + command
            let first = try rig.nw("get", rig.url, "--into", rig.place)
            try await rig.stored(50_000)
            try await Self.end(first)
            let second = try rig.nw("get")
            #expect(try await second.finished() == 0, "\(second.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: rig.place + "/file.bin")) == rig.content)
            #expect(!FileManager.default.fileExists(atPath: rig.place + "/state/causeway/agent"))
            rig.release()
        }
    }
}
