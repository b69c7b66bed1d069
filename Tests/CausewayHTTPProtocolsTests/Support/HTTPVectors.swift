import Foundation

/// Test vectors from other projects, in a folder next to the checkout.
enum HTTPVectors {
    /// Returns the text of the file at `path` below `data/http`. If there is no such file, prints that its tests are
    /// skipped, and returns `nil`.
    static func text(_ path: String) -> String? {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { folder.deleteLastPathComponent() }
        for root in [folder, folder.deletingLastPathComponent()] {
            let file = root.appendingPathComponent("shared/data/http").appendingPathComponent(path)
            if let data = try? Data(contentsOf: file) { return String(decoding: data, as: UTF8.self) }
        }
        print("SKIPPED: \(path): no shared/data/http next to this checkout")
        return nil
    }

    /// Returns the objects of a JSON file, ignoring comment lines at the start.
    static func objects(_ path: String) throws -> [[String: Any]] {
        guard let text = text(path) else { return [] }
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("//") }
        let parsed = try JSONSerialization.jsonObject(with: Data(lines.joined(separator: "\n").utf8))
        return parsed as? [[String: Any]] ?? []
    }
}
