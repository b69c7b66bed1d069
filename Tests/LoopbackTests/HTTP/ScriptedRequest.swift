import CausewaySystem
import FoundationEssentials

/// A request as the scripted test server receives it.
struct ScriptedRequest: Sendable {
    var method: String
    var target: String
    /// Header fields in the order in which they arrived. Names are in lower case.
    var fields: [(name: String, value: String)]
    var body = ""

    init(head: String) {
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
        let start = (lines.first ?? "").split(separator: " ")
        method = start.first.map(String.init) ?? ""
        target = start.dropFirst().first.map(String.init) ?? ""
        fields = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (line[..<colon].lowercased(), String(value))
        }
    }

    /// Returns the value of the first field with this lower-case name.
    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
}

extension ScriptedPeer {
    /// Reads a request with its content. Returns `nil` at the end of the stream.
    func readRequest() async throws -> ScriptedRequest? {
        guard let head = try await readHead() else { return nil }
        var request = ScriptedRequest(head: head)
        if let length = request["content-length"].flatMap({ Int($0) }) {
            request.body = try await read(count: length)
        } else if request["transfer-encoding"] == "chunked" {
            while true {
                let line = try await read(line: ())
                guard let size = Int(line.split(separator: ";").first ?? "", radix: 16) else { break }
                request.body += try await read(count: size)
                _ = try await read(line: ())
                if size == 0 { break }
            }
        }
        return request
    }

    /// Answers every request on the connection. The closure returns the text of each response.
    func serve(_ answer: @Sendable (ScriptedRequest) async throws -> String) async throws {
        while let request = try await readRequest() { try await write(try await answer(request)) }
    }
}

/// Returns the text of a response with a `Content-Length` field.
func reply(_ status: String = "200 OK", _ fields: [String] = [], _ body: String = "") -> String {
    "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n" + body
}
