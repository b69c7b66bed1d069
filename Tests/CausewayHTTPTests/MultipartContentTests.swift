import FoundationEssentials
import Testing

@testable import CausewayHTTP

@Suite("The content of a form")
struct MultipartContentTests {
    @Test("A reader begins at any offset, also within a file, and reads pieces of any size", arguments: [1, 4, 100])
    func offsets(_ limit: Int) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("form-\(UUID().uuidString)")
        try Data("in the file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var content = MultipartContent()
        try content.append(Array("head ".utf8))
        try content.append(file: file.path)
        try content.append(Array(" tail".utf8))
        let whole = Data("head in the file tail".utf8)
        #expect(content.count == Int64(whole.count))
        for offset in 0...(whole.count + 1) {
            let reader = MultipartReader(content, from: Int64(offset))
            var read = Data()
            while let piece = try reader.read(atMost: limit) {
                #expect(piece.count <= limit)
                read.append(piece)
            }
            #expect(read == Data(whole.dropFirst(offset)))
        }
    }
}
