import Foundation
import Testing

/// HTTP/2 test vectors of other projects, in a folder next to the checkout.
enum HTTPVectors {
    static let folder: URL? = {
        let checkout = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        for root in [checkout, checkout.deletingLastPathComponent()] {
            let place = root.appendingPathComponent("shared/data/http")
            if FileManager.default.fileExists(atPath: place.path) { return place }
        }
        return nil
    }()

    /// Returns the paths of all JSON files in the subfolders of a folder. If the folder is missing, prints a message and returns no paths.
    static func files(_ name: String) -> [String] {
        guard let folder else {
            print("SKIPPED: vectors of \(name): no shared/data/http next to this checkout")
            return []
        }
        let place = folder.appendingPathComponent(name)
        let found = FileManager.default.enumerator(atPath: place.path)?.compactMap { $0 as? String } ?? []
        return found.filter { $0.hasSuffix(".json") }.sorted().map { "\(name)/\($0)" }
    }

    static func decode<T: Decodable>(_ type: T.Type, _ path: String) throws -> T {
        let folder = try #require(folder)
        return try JSONDecoder().decode(type, from: try Data(contentsOf: folder.appendingPathComponent(path)))
    }
}

/// Returns the bytes that hexadecimal digits represent. Spaces are ignored.
func bytes(hex text: String) -> [UInt8] {
    let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
