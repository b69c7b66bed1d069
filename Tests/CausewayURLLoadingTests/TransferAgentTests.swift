import CausewaySystem
import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("§21: the process that goes on with background transfers")
struct TransferAgentTests {
    private let directory = StoreFileTests.Directory()

    /// Makes a file in a folder of the directory. Returns the folder.
    private func file(_ folder: String, _ content: String, permissions: Int = 0o755) throws -> String {
        let path = "\(directory.path)/\(folder)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(content.utf8).write(to: URL(fileURLWithPath: path + "/nw"))
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path + "/nw")
        return path
    }

    private func find(_ command: String, _ folders: [String] = []) -> TransferAgent.Command {
        TransferAgent.find(command, in: ["PATH": folders.joined(separator: ":")])
    }

    private func reason(_ command: String, _ folders: [String] = []) -> String {
        guard case .missing(let reason) = find(command, folders) else { return "" }
        return reason
    }

    /// What the program has set, the value of the variable, and the command that a session starts.
    static let choices: [(String?, String?, String?)] = [
        (nil, nil, nil), ("", nil, nil), ("nw", nil, "nw"), ("/opt/nw", nil, "/opt/nw"), (nil, "/usr/nw", "/usr/nw"),
        ("nw", "/usr/nw", "/usr/nw"), ("nw", "", nil), (nil, "", nil),
    ]

    @Test("A session starts only a command that the program or the variable names", arguments: choices)
    func wanted(_ program: String?, _ variable: String?, _ command: String?) {
        var environment = ["PATH": "/usr/bin"]
        environment[TransferAgent.variable] = variable
        #expect(TransferAgent.command(setBy: program, in: environment) == command)
    }

    @Test("A configuration names no command by default, and copies keep it")
    func configuration() {
        let configuration = URLSessionConfiguration.background(withIdentifier: "test")
        #expect(configuration.backgroundTransferCommand == nil)
        configuration.backgroundTransferCommand = "nw"
        let copy = configuration.copy() as? URLSessionConfiguration
        #expect(copy?.backgroundTransferCommand == "nw")
    }

    @Test("Only a session with a command uses the process", arguments: [nil, "/opt/nw"] as [String?])
    func sessions(_ command: String?) throws {
        var settings = SessionSettings()
        settings.background.identifier = "test"
        let store = try #require(TransferStore(directory.path + "/program/test"))
        let session = try BackgroundSession(store, settings, role: .owner, program: "program")
        session.useAgent(in: directory.path, setBy: command, environment: ["PATH": "/usr/bin"])
        let agent = session.state.withLock { $0.agent }
        #expect((agent.root == nil) == (command == nil))
        #expect(agent.command == command ?? "")
        session.close()
    }

    @Test("A command is an absolute path or a name in PATH, not a relative path")
    func kinds() {
        #expect(find("/opt/nw") == .path("/opt/nw"))
        #expect(reason("./nw").contains("./nw"))
        #expect(reason("other", ["/none"]).contains("other"))
    }

    @Test("In PATH, the first nw that belongs to Causeway and that others cannot change is used")
    func path() throws {
        // In one file, the text that the search looks for lies across the boundary between two blocks of 64 KiB.
        let padding = String(repeating: "x", count: (64 << 10) - 5)
        let folders = [
            "relative", directory.path + "/missing", try file("other", "#!/bin/sh\nexit 1\n"),
            try file("writable", "\(TransferAgent.variable)", permissions: 0o777),
            try file("shared", "\(TransferAgent.variable)", permissions: 0o775),
            try file("plain", "\(TransferAgent.variable)", permissions: 0o644),
            try file("right", padding + TransferAgent.variable + "\n"), try file("later", TransferAgent.variable),
        ]
        #expect(find("nw", folders) == .path(directory.path + "/right/nw"))
        #expect(reason("nw", Array(folders.prefix(6))).contains("PATH"))
    }

    @Test("One process at a time has the right, until it releases it")
    func claims() throws {
        let transfers = BackgroundTransfers(root: directory.path + "/state/causeway/sessions")
        do {
            guard case .taken(let lock) = transfers.claimAgent() else {
                Issue.record("not taken")
                return
            }
            guard case .refused = transfers.claimAgent() else {
                Issue.record("not refused")
                return
            }
            withExtendedLifetime(lock) {}
        }
        guard case .taken = transfers.claimAgent() else {
            Issue.record("not released")
            return
        }
        let facts = try FileManager.default.attributesOfItem(atPath: directory.path + "/state/causeway/agent")
        #expect((facts[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    }

    @Test("A directory that others can read is not used")
    func shared() throws {
        let path = directory.path + "/causeway/agent"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        guard case .unusable = BackgroundTransfers(root: directory.path + "/causeway/sessions").claimAgent() else {
            Issue.record("used")
            return
        }
    }
}
