import Foundation
import Testing

/// The data that a test sends.
enum Payload: Int, CaseIterable, CustomStringConvertible, Sendable {
    case nothing = 0
    case oneByte = 1
    case large = 100_000_000

    var description: String { "\(rawValue) bytes" }

    /// The URL of a file that has this content. All tests share the file.
    var file: URL {
        get throws {
            let url = Self.directory.appendingPathComponent("\(rawValue)")
            if !FileManager.default.fileExists(atPath: url.path) { try content.write(to: url) }
            return url
        }
    }

    /// The test content. It is different at every offset, so the test detects lost, repeated and reordered bytes.
    private var content: Data {
        var data = Data(capacity: rawValue)
        var word: UInt64 = 0x9e37_79b9_7f4a_7c15
        var block = [UInt64](repeating: 0, count: 131_072)
        for index in block.indices {
            word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9 &+ 1
            block[index] = word
        }
        while data.count < rawValue {
            block[0] = UInt64(data.count)
            block.withUnsafeBytes { data.append(contentsOf: $0.prefix(rawValue - data.count)) }
        }
        return data
    }

    private static let directory: URL = {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("nw-payload-\(UUID().uuidString)")
        // Ignore an error here. If this step fails, the first write of a payload also fails, and its error states the
        // reason.
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(at: Payload.directory) }
        return url
    }()

    /// Compares a program's output with this content.
    func expect(_ output: Data, from name: String) throws {
        let expected = try Data(contentsOf: file, options: .alwaysMapped)
        #expect(output.count == expected.count, "\(name) printed \(output.count) bytes instead of \(expected.count)")
        #expect(output == expected ? true : false, "\(name) printed different bytes than were sent")
    }
}
