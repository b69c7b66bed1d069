import Foundation
import Testing

@testable import CausewaySystem

/// Tests how a file is renamed without replacing another. The receivers of `nw` and the file server rely on this.
@Suite("Files of others")
struct SystemFileTests {
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.path + "/causeway-rename-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("content".utf8).write(to: URL(fileURLWithPath: path + "/old"))
        try body(path)
    }

    @Test("A file gets a new name, absolute or relative to a directory")
    func rename() throws {
        try withDirectory { path in
            try SystemFile.rename(path + "/old", toNew: path + "/new")
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["new"])
            let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(directory) }
            try SystemFile.rename("new", toNew: "last", in: directory)
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["last"])
        }
    }

    @Test("A name that exists is not replaced, not even a symbolic link to nothing", arguments: [false, true])
    func taken(isLink: Bool) throws {
        try withDirectory { path in
            if isLink {
                try FileManager.default.createSymbolicLink(atPath: path + "/new", withDestinationPath: "nothing")
            } else {
                try Data("other".utf8).write(to: URL(fileURLWithPath: path + "/new"))
            }
            #expect(throws: SystemError(errno: EEXIST, call: "renameat2")) {
                try SystemFile.rename(path + "/old", toNew: path + "/new")
            }
            #expect(try Set(FileManager.default.contentsOfDirectory(atPath: path)) == ["old", "new"])
            #expect(try String(contentsOfFile: path + "/old", encoding: .utf8) == "content")
        }
    }

    @Test("Missing parents of a private directory are made at each slash, also at one before a combining mark")
    func parents() throws {
        try withDirectory { path in #expect(PrivateDirectory(path + "/\u{301}a/b") != nil) }
    }

    @Test("A missing file is an error with its number")
    func missing() throws {
        try withDirectory { path in
            #expect(throws: SystemError(errno: ENOENT, call: "renameat2")) {
                try SystemFile.rename(path + "/none", toNew: path + "/new")
            }
        }
    }
}
