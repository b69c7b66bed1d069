import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("Multipart forms")
struct MultipartFormTests {
    /// Creates a file in a new folder, and removes both at the end.
    private static func withFile(_ content: Data, _ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("notes.txt")
        try content.write(to: file)
        try await body(file)
    }

    private static func code(_ body: () throws -> Void) -> URLError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? URLError)?.code
        }
    }

    @Test("Text, data and files are encoded as by browsers, and the length is known before")
    func encoded() async throws {
        try await Self.withFile(Data("in the file".utf8)) { file in
            var form = try #require(MultipartForm(boundary: "b"))
            form.append("Ann\nLee", name: "author")
            form.append(Data("{}".utf8), name: "j", contentType: "application/json")
            form.append(Data([0, 13, 10]), name: "d", fileName: "a\"b.png")
            form.append(contentsOf: file, name: "f")
            form.append(contentsOf: file, name: "g", fileName: "x.pdf", contentType: "text/x\r\nX: injected")
            let start = "Content-Disposition: form-data; name="
            let expected =
                "--b\r\n\(start)\"author\"\r\n\r\nAnn\r\nLee\r\n--b\r\n\(start)\"j\"\r\nContent-Type: application/json\r\n\r\n{}"
                + "\r\n--b\r\n\(start)\"d\"; filename=\"a%22b.png\"\r\nContent-Type: image/png\r\n\r\n\0\r\n"
                + "\r\n--b\r\n\(start)\"f\"; filename=\"notes.txt\"\r\nContent-Type: text/plain\r\n\r\nin the file"
                + "\r\n--b\r\n\(start)\"g\"; filename=\"x.pdf\"\r\nContent-Type: application/pdf\r\n\r\nin the file\r\n--b--\r\n"
            #expect(String(decoding: try form.encoded(), as: UTF8.self) == expected)
            #expect(try form.contentLength() == Int64(expected.utf8.count) && form.count == 5)
            #expect(form.contentType == "multipart/form-data; boundary=b" && form.boundary == "b")
        }
        #expect(try MultipartForm(boundary: "b")?.encoded() == Data("--b--\r\n".utf8))
        #expect(MultipartForm(boundary: "a\r\n") == nil && MultipartForm().boundary != MultipartForm().boundary)
    }

    @Test("Files that are missing, are directories, or change their size")
    func files() async throws {
        try await Self.withFile(Data("abc".utf8)) { file in
            var form = MultipartForm()
            form.append(contentsOf: file, name: "f")
            let (grown, shrunk, removed) = (
                try form.makeInputStream(), try form.makeInputStream(), try form.makeInputStream()
            )
            try Data("abcd".utf8).write(to: file)
            #expect(Self.readAll(grown) == nil && (grown.streamError as? URLError)?.code == .cannotOpenFile)
            try Data("ab".utf8).write(to: file)
            #expect(Self.readAll(shrunk) == nil)
            #expect(try form.contentLength() == Int64(form.encoded().count))
            try FileManager.default.removeItem(at: file)
            #expect(Self.readAll(removed) == nil && (removed.streamError as? URLError)?.code == .fileDoesNotExist)
            #expect(Self.code { _ = try form.contentLength() } == .fileDoesNotExist)
            var folder = MultipartForm()
            folder.append(contentsOf: file.deletingLastPathComponent(), name: "f")
            #expect(Self.code { _ = try folder.encoded() } == .fileIsDirectory)
            var remote = MultipartForm()
            remote.append(contentsOf: URL(string: "http://a.example/etc/passwd")!, name: "f")
            #expect(Self.code { _ = try remote.encoded() } == .fileDoesNotExist)
        }
    }

    /// Reads a stream to its end; `nil` after a failure.
    private static func readAll(_ stream: InputStream) -> Data? {
        stream.open()
        defer { stream.close() }
        var (content, buffer) = (Data(), [UInt8](repeating: 0, count: 7))
        while true {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { return count == 0 ? content : nil }
            content += buffer[..<count]
        }
    }

    @Test("A task of a loader of the program has the form as its stream, and becomes POST")
    func task() async throws {
        try await Self.withFile(Data(repeating: 7, count: 200_000)) { file in
            var form = MultipartForm()
            form.append("x", name: "a")
            form.append(contentsOf: file, name: "f")
            let expected = try form.encoded()
            let session = MockProtocol.session("form.mock") { mock in
                let content = mock.request.httpBodyStream.flatMap(Self.readAll)
                let type = mock.request.value(forHTTPHeaderField: "Content-Type") ?? ""
                mock.respond()
                mock.load("\(mock.request.httpMethod ?? "") \(content == expected) \(type)")
                mock.finish()
            }
            let request = URLRequest(url: try #require(URL(string: "http://form.mock/")))
            let (data, _) = try await session.upload(for: request, from: form)
            #expect(String(decoding: data, as: UTF8.self) == "POST true \(form.contentType)")
            #expect(session.uploadTask(with: request, from: form).countOfBytesExpectedToSend == Int64(expected.count))
            session.invalidateAndCancel()
        }
    }
}
