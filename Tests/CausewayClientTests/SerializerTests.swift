@testable import CausewayClient
import CausewaySystem
import CausewayURLLoading
import Dispatch
import Foundation
import Testing

@Suite("Client: serializers and errors")
struct SerializerTests {
    private struct Album: Codable, Equatable, Sendable {
        var artist: String
        var title: String
        var artwork: URL
        var tracks: [String]
    }

    private static let album = Album(
        artist: "Ü", title: "One", artwork: URL(filePath: "/a.png"), tracks: ["a", "b"])

    private static func received(
        _ data: Data, _ type: String? = nil, status: Int = 200
    ) throws -> ReceivedResponse {
        ReceivedResponse(data: data, http: try answer("", status: status, type.map { ["Content-Type": $0] } ?? [:]).1)
    }

    @Test("M3: JSON, property list, XML, image, text and bytes; others by closure")
    func kinds() throws {
        let json = try JSONEncoder().encode(Self.album)
        #expect(
            try ResponseSerializer<Album>.json().value(of: Self.received(json, "application/hal+json")) == Self.album)
        let list = try PropertyListEncoder().encode(Self.album)
        let listed = try ResponseSerializer<Album>.propertyList().value(of: Self.received(list, "application/x-plist"))
        #expect(listed == Self.album)
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0])
        let image = try ResponseSerializer.image.value(of: Self.received(png, "image/jpeg"))
        #expect(image.mediaType == "image/png" && image.data == png)
        let xml = ResponseSerializer<Int>(accepting: ["application/xml", "text/xml", "*/*+xml"]) { response in
            response.data.split(separator: UInt8(ascii: "<")).count
        }
        #expect(try xml.value(of: Self.received(Data("<a><b/></a>".utf8), "application/atom+xml")) == 3)
        #expect(try xml.map { "\($0)" }.value(of: Self.received(Data("<a/>".utf8), "text/xml")) == "1")
        #expect(try ResponseSerializer.data.value(of: Self.received(png, "x/y")) == png)
    }

    @Test("A property list that is nested too deep is refused before Foundation decodes it")
    func deepPropertyList() throws {
        let list = Data("<plist>\(String(repeating: "<array>", count: 200_000))".utf8)
        let serializer = ResponseSerializer<[String]>.propertyList()
        #expect(throws: HTTPClientError.self) { try serializer.value(of: Self.received(list, "text/xml")) }
    }

    @Test(
        "Text is decoded with its character encoding",
        arguments: [
            ([0xC3, 0xA9], "text/plain", "é"), ([0xE9], "text/plain; charset=ISO-8859-1", "é"),
            ([0x80], "text/plain; charset=\"windows-1252\"", "€"),
            ([0xEF, 0xBB, 0xBF, 0x61], "text/plain; charset=latin1", "a"),
            ([0xFF, 0xFE, 0x61, 0x00], nil, "a"), ([0x61, 0xFF], nil, "a\u{FFFD}"), ([], nil, ""),
            ([0x61], "text/plain; charset=klingon", nil),
        ] as [([UInt8], String?, String?)])
    func text(_ bytes: [UInt8], _ type: String?, _ expected: String?) throws {
        #expect((try? ResponseSerializer.text.value(of: Self.received(Data(bytes), type))) == expected)
    }

    @Test(
        "M4: a serializer validates the status and the content type",
        arguments: [
            (200, "application/json", nil), (200, nil, nil), (204, "text/html", nil),
            (404, "application/json", .unacceptableStatus),
            (302, "application/json", .unacceptableStatus), (200, "text/html; charset=utf-8", .unacceptableContentType),
        ] as [(Int, String?, HTTPClientError.Code?)])
    func validation(_ status: Int, _ type: String?, _ expected: HTTPClientError.Code?) throws {
        let content = status == 204 ? "" : "[]"
        var code: HTTPClientError.Code?
        do throws(HTTPClientError) {
            try ResponseSerializer<[Int]>.json().validate(
                Self.ready(Self.received(Data(content.utf8), type, status: status)))
        } catch {
            code = error.code
        }
        #expect(code == expected)
    }

    private static func ready(_ make: @autoclosure () throws -> ReceivedResponse) throws(HTTPClientError)
        -> ReceivedResponse
    {
        do { return try make() } catch { throw HTTPClientError(.invalidRequest, "\(error)") }
    }

    @Test("M5: a response is decoded as a record")
    func typed() async throws {
        let json = String(decoding: try JSONEncoder().encode(Self.album), as: UTF8.self)
        let client = try ScriptedServer { _, _ in try answer(json) }.client()
        let album: Album = try await client.get("albums/1")
        #expect(album == Self.album)
    }

    @Test("M7: an error keeps status, header fields and the beginning of the content, and nothing secret")
    func errors() async throws {
        let server = ScriptedServer { _, _ in
            try answer(
                String(repeating: "x", count: 100), status: 418, ["X-Reason": "tea", "Content-Type": "text/plain"])
        }
        let client = try server.client { $0.maximumErrorContentLength = 10 }
        let error = await failure { _ = try await client.get("pot", query: ["token": "secret"]) as Album }
        #expect(error?.code == .unacceptableStatus && error?.status == 418 && error?.headers["X-Reason"] == "tea")
        #expect(error?.content == Data("xxxxxxxxxx".utf8) && error?.attempts == 1)
        #expect(error?.request == "GET https://api.example/v1/pot" && error?.description.contains("secret") == false)
    }

    @Test("M8: a task starts only when it is resumed")
    func resumed() async throws {
        let server = ScriptedServer { _, _ in try answer("[3]") }
        let client = try server.client()
        let (results, feed) = AsyncStream.makeStream(of: Result<ClientResponse<[Int]>, any Error>.self)
        let task = client.task(ClientRequest("GET", "a"), as: .json([Int].self), queue: .global()) { feed.yield($0) }
        #expect(task.state == .suspended && client.activeCallCount == 0 && server.requests.isEmpty)
        task.resume()
        var iterator = results.makeAsyncIterator()
        #expect(try await iterator.next()?.get().value == [3] && server.requests.count == 1)
    }

    @Test("Errors of the content, of the body and of the transport differ")
    func codes() async throws {
        let broken = try ScriptedServer { _, _ in try answer("{") }.client()
        let content = await failure { _ = try await broken.get("a") as Album }
        #expect(content?.code == .serialization && content?.underlying is DecodingError && content?.status == 200)
        let body = await failure { try await broken.post("a", body: .json(Double.nan), as: .none) }
        #expect(body?.code == .invalidRequest)
        let down = try ScriptedServer { _, _ in throw URLError(.badURL) }.client()
        let transport = await failure { try await down.get("a", as: .none) }
        #expect(transport?.code == .transport && (transport?.underlying as? URLError)?.code == .badURL)
        let path = await failure { try await down.get("\("..")", as: .none) }
        #expect(path?.code == .invalidRequest && path?.attempts == 0)
    }
}
