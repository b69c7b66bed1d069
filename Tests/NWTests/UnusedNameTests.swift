import CausewayTypes
import Foundation
import Testing

@testable import nw

/// Tests file names that a server chooses.
@Suite("Unused names")
struct UnusedNameTests {
    @Test(
        "Files that get one name at the same time keep their content, also from another file system",
        arguments: ["/tmp", "/dev/shm"])
    func simultaneous(place: String) async throws {
        try await Scratch.run { scratch in
            let target = try scratch.newDirectory("target")
            let source = URL(fileURLWithPath: place).appendingPathComponent("nw-names-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: source) }
            let files = (0..<40).map { source.appendingPathComponent("\($0)") }
            for (number, file) in files.enumerated() { try Data("\(number)".utf8).write(to: file) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for file in files { group.addTask { _ = try UnusedName.move(file, to: "name", in: target) } }
                try await group.waitForAll()
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: target.path)
            #expect(Set(names) == Set(["name"] + (1..<40).map { "name.\($0)" }))
            let contents = try names.map { try String(contentsOf: target.appendingPathComponent($0), encoding: .utf8) }
            #expect(Set(contents) == Set((0..<40).map { "\($0)" }))
            #expect(try FileManager.default.contentsOfDirectory(atPath: source.path).isEmpty)
        }
    }

    @Test("No file becomes hidden or replaces a link without a destination; a missing directory is an error")
    func refusals() async throws {
        try await Scratch.run { scratch in
            let target = try scratch.newDirectory("target")
            try FileManager.default.createSymbolicLink(
                atPath: target.path + "/_profile", withDestinationPath: "/none/file")
            let place = try UnusedName.move(try scratch.newFile("a"), to: ".profile", in: target)
            #expect(place.lastPathComponent == "_profile.1")
            let kept = try scratch.newFile("b")
            #expect(throws: NWError.posix(.ENOENT)) {
                try UnusedName.move(kept, to: "name", in: target.appendingPathComponent("none"))
            }
            #expect(FileManager.default.fileExists(atPath: kept.path))
        }
    }

    @Test(
        "A name that a peer chooses is visible, harmless and short",
        arguments: [
            ("a.txt", "a.txt"), ("../../etc/passwd", "passwd"), ("C:\\x\\y.txt", "y.txt"), (".bashrc", "_bashrc"),
            ("...a", "___a"), ("a\u{1B}[31mb.txt", "a[31mb.txt"), ("a\nb", "ab"), ("\u{9B}31m.txt", "31m.txt"),
            ("\u{202E}.a", "_a"), ("a\u{202E}txt.exe", "atxt.exe"), ("\u{1B}.bashrc", "_bashrc"), ("", nil), ("/", nil),
            ("..", nil), ("\n", nil), ("\u{200F}", nil), ("Zoë 日本.pdf", "Zoë 日本.pdf"),
            ("👩\u{200D}🔬.png", "👩\u{200D}🔬.png"),
        ] as [(String, String?)])
    func safe(_ name: String, _ expected: String?) { #expect(UnusedName.safe(name) == expected) }

    @Test("A long name keeps its extension and whole characters", arguments: ["n", "ä", "日", "👩"])
    func long(_ character: String) throws {
        for fileExtension in [".txt", "", "." + String(repeating: "e", count: 300)] {
            let long = String(repeating: character, count: 100_000) + fileExtension
            let name = try #require(UnusedName.safe(long))
            #expect(name.utf8.count <= 200 && name.utf8.count > 190)
            #expect(name.hasSuffix(fileExtension == ".txt" ? ".txt" : character))
        }
    }

    @Test("Several files of a run with one name get numbers")
    func numbers() {
        #expect(UnusedName.first("a", besides: []) == "a")
        #expect(UnusedName.first("a", besides: ["a", "a.1", "b"]) == "a.2")
    }
}
