import CausewaySystem
import FoundationEssentials
import Testing

@testable import CausewayHTTPServer

@Suite("HTTP server: directories")
struct DirectoryTests {
    /// Creates a directory with files, a symbolic link and hidden names, and removes it afterwards.
    private func withDirectory(_ body: (String, Int32) throws -> Void) throws {
        var template = Array("/tmp/http-server-XXXXXX".utf8CString)
        let path = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { removeAll(path) }
        for name in ["a.txt", ".hidden", ".\u{301}hidden", "<b>&.txt"] { create("\(path)/\(name)") }
        mkdir("\(path)/sub", 0o700)
        create("\(path)/sub/c.txt")
        symlink("/etc", "\(path)/link")
        symlink("a.txt", "\(path)/inner")
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(descriptor) }
        try body(path, descriptor)
    }

    private func create(_ path: String) { close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode_t(0o600))) }

    private func removeAll(_ path: String) {
        for name in ["a.txt", ".hidden", ".\u{301}hidden", "<b>&.txt", "sub/c.txt", "link", "inner", "new"] {
            unlink("\(path)/\(name)")
        }
        rmdir("\(path)/sub")
        rmdir(path)
    }

    // RFC 9110 §17.3.
    @Test("A walk reaches files below, and follows no symbolic link")
    func walk() throws {
        try withDirectory { _, root in
            let file = try DirectoryWalk(from: root, ["sub", "c.txt"])
            #expect(!file.isDirectory)
            let directory = try DirectoryWalk(from: root, [])
            #expect(directory.isDirectory)
            for names in [["link"], ["link", "passwd"], ["inner"]] {
                #expect(throws: HTTPServerError.self) { _ = try DirectoryWalk(from: root, names) }
            }
        }
    }

    @Test("A slash before a combining mark separates names, so no link between them is followed")
    func combiningMark() throws {
        #expect(try HTTPServerDirectory.names(of: "link/\u{301}passwd") == ["link", "\u{301}passwd"])
        #expect(throws: HTTPServerError.self) { try HTTPServerDirectory.names(of: "sub/.\u{301}x") }
    }

    @Test("A location has one leading slash", arguments: ["/a", "//a", "a", "///a"])
    func location(_ path: String) {
        #expect(HTTPServerDirectory.location(of: path) == "/a")
        #expect(HTTPServerDirectory.location(of: "//\u{301}a" + path) == "/%CC%81a" + path)
    }

    @Test(
        "A location is a path on this server, also for a browser that takes a backslash for a slash",
        arguments: [
            ("/\\evil.example", "/%5Cevil.example"), ("\\\\evil.example", "/%5C%5Cevil.example"),
            ("//\\/evil.example", "/%5C/evil.example"), ("/\t/evil.example", "/%09/evil.example"),
            ("/%5Cevil.example", "/%5Cevil.example"), ("http://evil.example", "/http://evil.example"),
        ])
    func foreignLocation(_ path: String, _ location: String) {
        #expect(HTTPServerDirectory.location(of: path) == location)
    }

    @Test("A listing has no hidden names and no links, directories first, and escapes names")
    func listing() throws {
        try withDirectory { _, root in
            let entries = try DirectoryWalk(from: root, []).entries()
            #expect(entries.map(\.name) == ["sub", "<b>&.txt", "a.txt"])
            let page = DirectoryListing.page([], entries, isRoot: true)
            #expect(page.contains("<a href=\"./%3Cb%3E%26.txt\">&lt;b&gt;&amp;.txt</a>"))
            #expect(!page.contains("../"))
        }
    }

    @Test("Only a regular file is the index page of a directory")
    func indexPage() throws {
        try withDirectory { _, root in
            let folder = try DirectoryWalk(from: root, [])
            for (name, isFile) in [("a.txt", true), ("sub", false), ("inner", false), ("none", false)] {
                let found = try folder.containsFile(name)
                #expect(found == isFile, "\(name)")
            }
        }
    }

    @Test("A directory that cannot be read is an error, not an empty listing or a missing file")
    func unreadable() throws {
        try withDirectory { _, root in
            let folder = try DirectoryWalk(from: root, [])
            // From now on, the descriptor belongs to a file that is no directory.
            let other = open("/dev/null", O_RDONLY | O_CLOEXEC)
            defer { close(other) }
            try #require(dup2(other, folder.descriptor) == folder.descriptor)
            #expect(throws: HTTPServerError.self) { try folder.entries() }
            #expect(throws: HTTPServerError.self) { try folder.contains("a.txt") }
            #expect(throws: HTTPServerError.self) { try folder.containsFile("a.txt") }
        }
    }

    @Test(
        "Only an error that says that a file is missing has status 404",
        arguments: [
            (ENOENT, 404), (ENOTDIR, 404), (ENAMETOOLONG, 404), (EACCES, 403), (EPERM, 403), (ELOOP, 403),
            (EMFILE, 503), (ENFILE, 503), (ENOMEM, 503), (EIO, 500), (ESTALE, 500),
        ])
    func statuses(_ code: Int32, _ status: Int) {
        #expect(ServedFile.failure(code).status == status)
    }

    @Test("An upload appears when it is complete, replaces nothing, and leaves nothing behind")
    func upload() throws {
        try withDirectory { path, root in
            let folder = try DirectoryWalk(from: root, [])
            do {
                let unfinished = try NewFile(in: folder, named: "new")
                try unfinished.write(Data("abc".utf8))
                let isThere = try folder.contains("new")
                #expect(!isThere)
            }
            let names = try Set(FileManager.default.contentsOfDirectory(atPath: path))
            #expect(!names.contains { $0.hasPrefix(".upload-") })
            let file = try NewFile(in: folder, named: "new")
            try file.write(Data("abc".utf8))
            try file.finish()
            #expect(try Set(FileManager.default.contentsOfDirectory(atPath: path)) == names.union(["new"]))
            let second = try NewFile(in: folder, named: "new")
            #expect(throws: HTTPServerError.self) { try second.finish() }
            let served = try ServedFile(opening: "\(path)/new")
            #expect(served.length == 3)
        }
    }
}
