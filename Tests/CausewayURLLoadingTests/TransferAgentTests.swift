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

    private func find(_ command: String?, _ folders: [String] = []) -> TransferAgent.Command {
        var environment = ["PATH": folders.joined(separator: ":")]
        environment[TransferAgent.variable] = command
        return TransferAgent.find(in: environment)
    }

    private func reason(_ command: String?, _ folders: [String] = []) -> String {
        guard case .missing(let reason) = find(command, folders) else { return "" }
        return reason
    }

    @Test("The variable has an absolute path or a name; empty, and with a relative path, no process is started")
    func variable() throws {
        #expect(find("/opt/nw") == .path("/opt/nw"))
        #expect(reason("").contains("is empty"))
        #expect(reason("./nw").contains("./nw"))
        #expect(reason("other", ["/none"]).contains("other"))
    }

    @Test("In PATH, the first nw that belongs to Causeway and that others cannot change is used")
    func path() throws {
        // The text lies on both sides of the end of a piece of 64 KiB.
        let padding = String(repeating: "x", count: (64 << 10) - 5)
        let folders = [
            "relative", directory.path + "/missing", try file("other", "#!/bin/sh\nexit 1\n"),
            try file("writable", "\(TransferAgent.variable)", permissions: 0o777),
            try file("shared", "\(TransferAgent.variable)", permissions: 0o775),
            try file("plain", "\(TransferAgent.variable)", permissions: 0o644),
            try file("right", padding + TransferAgent.variable + "\n"), try file("later", TransferAgent.variable),
        ]
        #expect(find(nil, folders) == .path(directory.path + "/right/nw"))
        #expect(find("nw", folders) == .path(directory.path + "/right/nw"))
        #expect(reason(nil, Array(folders.prefix(6))).contains("PATH"))
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
