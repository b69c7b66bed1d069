import Foundation
import Testing

@testable import nw

/// The file of an incomplete download.
@Suite("Incomplete downloads")
struct PartialFileTests {
    private static let url = "http://host.test/a.iso"

    @Test("A file that another download uses is not changed, not even to its own length")
    func inUse() async throws {
        try await Scratch.run { scratch in
            let path = scratch.directory.appendingPathComponent("a.iso.part").path
            let first = try PartialFile(at: path, for: Self.url)
            try first.append([Data("begun".utf8)])
            let date = Date(timeIntervalSince1970: 1_000_000)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
            #expect(throws: CommandFailure.self) { _ = try PartialFile(at: path, for: Self.url) }
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.modificationDate] as? Date == date)
            try first.append([Data(", ended".utf8)])
            let content = try String(contentsOfFile: path, encoding: .utf8)
            #expect(content == "begun, ended")
            withExtendedLifetime(first) {}
        }
    }

    @Test("The next download continues at the end of the file")
    func continues() async throws {
        try await Scratch.run { scratch in
            let path = scratch.directory.appendingPathComponent("a.iso.part").path
            for piece in ["one ", "two"] {
                let file = try PartialFile(at: path, for: Self.url)
                try file.append([Data(piece.utf8)])
            }
            let content = try String(contentsOfFile: path, encoding: .utf8)
            #expect(content == "one two")
        }
    }

    @Test("A file knows whether it has a name")
    func names() async throws {
        try await Scratch.run { scratch in
            let path = scratch.directory.appendingPathComponent("a").path
            let file = try OpenFile(updating: path)
            let before = file.isFile(at: path)
            try FileManager.default.moveItem(atPath: path, toPath: path + ".b")
            let moved = file.isFile(at: path)
            try Data().write(to: URL(fileURLWithPath: path))
            let replaced = file.isFile(at: path)
            let last = file.isFile(at: path + ".b")
            #expect(before && !moved && !replaced && last)
        }
    }
}
