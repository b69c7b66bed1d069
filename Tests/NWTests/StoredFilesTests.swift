import CausewayTypes
import Foundation
import Testing

@testable import nw

/// Several files that belong together, as in an uploaded form.
@Suite("Files stored together")
struct StoredFilesTests {
    @Test("If one of several files cannot be stored, none is")
    func none() async throws {
        try await Scratch.run { scratch in
            let inbox = try scratch.newDirectory("inbox")
            let other = try scratch.newDirectory("other")
            let (first, second) = (try IncomingFile(in: inbox.path), try IncomingFile(in: other.path))
            try first.append(Data("one".utf8))
            try second.append(Data("two".utf8))
            try FileManager.default.removeItem(at: other)
            #expect(throws: NWError.self) {
                _ = try IncomingFile.store([(file: first, name: "a.txt"), (file: second, name: "b.txt")])
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: inbox.path)
            #expect(names == [])
        }
    }

    @Test("Files with one name get numbers")
    func all() async throws {
        try await Scratch.run { scratch in
            let inbox = try scratch.newDirectory("inbox")
            let files = try ["one", "two"].map { content in
                let file = try IncomingFile(in: inbox.path)
                try file.append(Data(content.utf8))
                return (file: file, name: "a.txt")
            }
            let names = try IncomingFile.store(files)
            #expect(names == ["a.txt", "a-2.txt"])
            let contents = try names.map {
                try String(contentsOf: inbox.appendingPathComponent($0), encoding: .utf8)
            }
            #expect(contents == ["one", "two"])
        }
    }
}
