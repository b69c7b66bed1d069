import Foundation
import Testing

@testable import CausewaySystem

@Suite("Directories: names, and errors that are not the end")
struct DirectoryStreamTests {
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.path + "/causeway-names-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    private func create(_ path: String) { close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)) }

    /// Makes a descriptor refer to a file that is not a directory, so that later calls for a directory fail.
    private func spoil(_ descriptor: CInt) throws {
        let other = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(other) }
        try #require(dup2(other, descriptor) == descriptor)
    }

    @Test("All names are read, except those of the directory and its parent, and those that are not UTF-8")
    func names() throws {
        try withDirectory { path in
            for name in ["a", ".hidden", "ž"] { create("\(path)/\(name)") }
            mkdir("\(path)/sub", 0o700)
            let raw: [CChar] = Array("\(path)/".utf8CString.dropLast()) + [CChar(truncatingIfNeeded: 0xFF), 0]
            close(open(raw, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
            defer { unlink(raw) }
            #expect(try Set(DirectoryStream.names(in: path)) == ["a", ".hidden", "ž", "sub"])
            let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(directory) }
            // Each stream reads all names, also those that another stream of the descriptor has read.
            for _ in 0..<2 {
                var stream = try DirectoryStream(of: directory)
                var count = 0
                while try stream.next() != nil { count += 1 }
                #expect(count == 4)
            }
        }
    }

    @Test("Only a missing directory is reported as missing")
    func errors() throws {
        try withDirectory { path in
            create("\(path)/file")
            symlink("loop", "\(path)/loop")
            for (name, code) in [("none", ENOENT), ("file", ENOTDIR), ("loop", ELOOP)] {
                #expect(throws: SystemError(errno: code, call: "open")) {
                    try DirectoryStream.names(in: "\(path)/\(name)")
                }
            }
        }
    }

    @Test("Only a missing file has no status; a symbolic link is not followed")
    func status() throws {
        try withDirectory { path in
            create("\(path)/file")
            symlink("none", "\(path)/link")
            mkdir("\(path)/folder", 0o700)
            #expect(try FileStatus("\(path)/none") == nil)
            let file = try #require(try FileStatus("\(path)/file"))
            #expect(file.kind == .regular && file.permissions == 0o600 && file.byteCount == 0)
            #expect(try FileStatus("\(path)/link")?.kind == .symbolicLink)
            #expect(try FileStatus("\(path)/folder")?.kind == .directory)
            #expect(try FileStatus("/dev/null")?.kind == .other)
            #expect(throws: SystemError(errno: ENOTDIR, call: "lstat")) { try FileStatus("\(path)/file/x") }
        }
    }

    @Test("An error while a directory is read is not taken for the end of the directory")
    func interrupted() throws {
        try withDirectory { path in
            // The C library reads many names at once. These do not fit into its usual buffer.
            for number in 0..<400 { create("\(path)/\(number)" + String(repeating: "x", count: 200)) }
            let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            var stream = try DirectoryStream(adopting: number)
            let first = try stream.next()
            #expect(first != nil)
            try spoil(number)
            var failure: SystemError?
            do throws(SystemError) { while try stream.next() != nil {} } catch { failure = error }
            #expect(failure == SystemError(errno: ENOTDIR, call: "readdir"))
        }
    }

    @Test("A private directory that cannot be read has no list, and its files are not missing")
    func unreadable() throws {
        try withDirectory { path in
            let directory = try PrivateDirectory(path: path)
            #expect(directory.replace("a", with: [[1]]))
            #expect(try directory.entries().map(\.name) == ["a"] && directory.contains("a") && !directory.contains("b"))
            #expect(try directory.entry("a")?.size == 1 && directory.entry("b") == nil)
            #expect(!directory.lacks("a") && directory.lacks("b"))
            #expect(try directory.contents(of: "a", limit: 9)?.content == [1])
            #expect(try directory.contents(of: "b", limit: 9) == nil && directory.contents(of: "a", limit: 0) == nil)
            try spoil(directory.descriptor.rawValue)
            #expect(throws: SystemError(errno: ENOTDIR, call: "open")) { try directory.entries() }
            #expect(throws: SystemError(errno: ENOTDIR, call: "stat")) { try directory.entry("a") }
            #expect(throws: SystemError(errno: ENOTDIR, call: "stat")) { try directory.contains("a") }
            #expect(throws: SystemError.self) { try directory.contents(of: "a", limit: 9) }
            #expect(directory.list() == nil && directory.size(of: "a") == nil && directory.read("a", limit: 9) == nil)
            #expect(!directory.lacks("a") && !directory.lacks("b"))
        }
    }

    @Test("A private directory that cannot be used is refused with the reason")
    func refused() throws {
        try withDirectory { path in
            create("\(path)/file")
            symlink(path, "\(path)/link")
            mkdir("\(path)/shared", 0o755)
            let rows = [("none", ENOENT), ("file", ENOTDIR), ("link", ELOOP), ("shared", EPERM)]
            for (name, code) in rows {
                #expect(throws: SystemError(errno: code, call: "open")) {
                    try PrivateDirectory(path: "\(path)/\(name)", isCreated: false)
                }
                #expect(PrivateDirectory("\(path)/\(name)", isCreated: false) == nil)
            }
            #expect(SystemError(errno: ENOENT, call: "open").message == "open: No such file or directory")
        }
    }

    @Test("A lock whose file cannot be opened is not taken for one that another process holds")
    func lock() throws {
        try withDirectory { path in
            let directory = try PrivateDirectory(path: path)
            let lock = try directory.claim("lock")
            #expect(try lock != nil && directory.claim("lock") == nil)
            mkdir("\(path)/folder", 0o700)
            #expect(throws: SystemError(errno: EISDIR, call: "open")) { try directory.claim("folder") }
            #expect(directory.lock("folder") == nil)
            withExtendedLifetime(lock) {}
        }
    }
}
