import Foundation
import Testing

@testable import CausewayClient

@Suite("Client: files")
struct DestinationTests {
    @Test("A file with a name of the maximum length replaces the old one, and no other file remains")
    func longName() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let name = String(repeating: "n", count: 255)
        let destination = directory.appendingPathComponent(name)
        for text in ["old", "new"] {
            let temporary = directory.appendingPathComponent("temporary")
            try Data(text.utf8).write(to: temporary)
            try Destination.place(temporary, at: destination)
        }
        #expect(try Data(contentsOf: destination) == Data("new".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [name])
    }
}
