import CausewaySystem
import Dispatch
import Foundation
import Testing

@Suite("Append files")
struct AppendFileTests {
    @Test("Pieces that threads append at the same time are all in the file, each in one part")
    func concurrent() throws {
        let path = FileManager.default.temporaryDirectory.path + "/causeway-append-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let directory = try PrivateDirectory.open(path)
        let file = try directory.appendFile("journal")
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            for _ in 0..<200 { try? file.append([UInt8](repeating: UInt8(number), count: 16)) }
        }
        let content = file.content()
        #expect(file.byteCount == 8 * 200 * 16 && content.count == file.byteCount)
        let pieces = stride(from: 0, to: content.count, by: 16).map { Set(content[$0..<min($0 + 16, content.count)]) }
        #expect(pieces.allSatisfy { $0.count == 1 })
        for number in 0..<8 { #expect(pieces.count { $0 == [UInt8(number)] } == 200) }
        try file.truncate(to: 16)
        try file.append([9])
        #expect(file.byteCount == 17 && file.content().last == 9)
    }

    @Test("A file that replaces another one is appended to under its name")
    func replacement() throws {
        let path = FileManager.default.temporaryDirectory.path + "/causeway-append-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let directory = try PrivateDirectory.open(path)
        try directory.appendFile("journal").append([9, 9, 9, 9])
        let (file, failure) = try directory.replaceAppendFile("journal", with: [[1], [2, 3]])
        #expect(failure == nil && file.byteCount == 3)
        try file.append([4])
        #expect(directory.read("journal", limit: 100)?.content == [1, 2, 3, 4])
        #expect(directory.list()?.map(\.name) == ["journal"])
    }
}
