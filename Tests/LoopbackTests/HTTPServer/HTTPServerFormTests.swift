import Causeway
import CausewayHTTPServer
import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

extension Loopback {
    /// Tests forms that a server reads while they arrive.
    @Suite("HTTP server: forms")
    struct HTTPServerFormTests {
        private static func route(_ body: @escaping HTTPServer.Handler) -> HTTPServerRoutes {
            var routes = HTTPServerRoutes()
            routes.post("/form", body)
            return routes
        }

        private static func request(_ port: UInt16, _ type: String) throws -> URLRequest {
            var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port)/form")))
            request.httpMethod = "POST"
            request.setValue(type, forHTTPHeaderField: "Content-Type")
            return request
        }

        /// A handler that lists each part of the form on its own line.
        private static let list: HTTPServer.Handler = { request in
            guard let form = request.form else { throw HTTPServerError(status: 415) }
            let fields = try await form.collect(upTo: 1 << 20)
            return .text(
                fields.map { field in
                    let part = field.part
                    return "\(part.name)|\(part.filename ?? "-")|\(part.mediaType ?? "-")|\(field.text)"
                }.joined(separator: "\n"))
        }

        private static func answer(_ port: UInt16, _ type: String, _ body: String) async throws -> (Int, String) {
            let (data, response) = try await privateSession().upload(
                for: try request(port, type), from: Data(body.utf8))
            return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
        }

        @Test("Fields and files arrive with their names and types; folders of file names are dropped")
        func parts() async throws {
            let body = """
                --b\r
                Content-Disposition: form-data; name="title"\r
                \r
                Æ &\r
                --b\r
                Content-Disposition: form-data; name="file"; filename="../../etc/a b.txt"\r
                Content-Type: text/plain\r
                \r
                one\r
                --x\r
                --b\r
                Content-Disposition: form-data; name="none"; filename=".."\r
                \r
                \r
                --b--\r

                """
            try await TestServer.run(routes: Self.route(Self.list)) { _, port in
                let (status, text) = try await Self.answer(port, "multipart/form-data; boundary=b", body)
                #expect(status == 200)
                #expect(text == "title|-|-|Æ &\nfile|a b.txt|text/plain|one\r\n--x\nnone|-|-|")
            }
        }

        static let refused: [(type: String, body: String, status: Int)] = [
            ("text/plain", "", 415), ("multipart/form-data", "", 415), ("multipart/mixed; boundary=b", "", 415),
            ("multipart/form-data; boundary=b", "", 400), ("multipart/form-data; boundary=b", "--b\r\n", 400),
            ("multipart/form-data; boundary=b", "--b\r\nX: y\r\n\r\nz\r\n--b--", 400),
            ("multipart/form-data; boundary=b", "--b\r\nbad field\r\n\r\nz\r\n--b--", 400),
            (
                "multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nz\r\n--b",
                400
            ),
        ]

        @Test("Other types and malformed forms are refused", arguments: refused)
        func refuses(_ row: (type: String, body: String, status: Int)) async throws {
            try await TestServer.run(routes: Self.route(Self.list)) { _, port in
                let (status, _) = try await Self.answer(port, row.type, row.body)
                #expect(status == row.status)
            }
        }

        @Test("A form of 8 MiB is read piece by piece, and more than the limit is refused")
        func large() async throws {
            let count = 8 << 20
            var form = MultipartForm()
            form.append(
                Data(repeating: 65, count: count), name: "file", fileName: "a.bin", contentType: "image/png")
            let sent = form
            let routes = Self.route { request in
                guard let form = request.form else { throw HTTPServerError(status: 415) }
                if request.query == "collect" { return .text("\(try await form.collect(upTo: 1 << 20).count)") }
                var (names, bytes, largest) = ([String](), 0, 0)
                for try await step in form {
                    switch step {
                    case .part(let part): names.append(part.filename ?? "")
                    case .content(let piece):
                        bytes += piece.count
                        largest = max(largest, piece.count)
                    case .end: names.append("end")
                    }
                }
                return .text("\(names) \(bytes) \(largest <= 256 << 10)")
            }
            try await TestServer.run(
                configure: { $0.maximumContentLength = 1 << 30 }, routes: routes
            ) { _, port in
                let url = try #require(URL(string: "http://127.0.0.1:\(port)/form"))
                let (data, _) = try await privateSession().upload(for: URLRequest(url: url), from: sent)
                #expect(String(decoding: data, as: UTF8.self) == "[\"a.bin\", \"end\"] \(count) true")
                let other = try #require(URL(string: "http://127.0.0.1:\(port)/form?collect"))
                let (_, response) = try await privateSession().upload(for: URLRequest(url: other), from: sent)
                #expect((response as? HTTPURLResponse)?.statusCode == 413)
            }
        }
    }
}
