import CausewayURLLoading
import Foundation
import Testing

@testable import CausewayImages

@Suite("Images by URLSession")
struct SessionTests {
    /// Answers without network: the path names the image.
    // SAFETY: it adds no state.
    private final class Images: URLProtocol, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.host() == "mock.example" }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func stopLoading() {}

        override func startLoading() {
            guard let url = request.url else { return }
            let bytes = url.lastPathComponent == "a.jpg" ? TestImages.progressive : nil
            let response = HTTPURLResponse(
                url: url, statusCode: bytes == nil ? 404 : 200, httpVersion: "HTTP/1.1",
                headerFields: ["Content-Length": "\(bytes?.count ?? 0)", "Content-Type": "text/plain"])
            if let response { client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed) }
            for piece in (bytes ?? []).chunks(of: 50) { client?.urlProtocol(self, didLoad: Data(piece)) }
            client?.urlProtocolDidFinishLoading(self)
        }
    }

    @Test(
        "An image is loaded, decoded and processed; an error of the server has its status; data: needs no server",
        .enabled(if: ImageLibraries.canRun, ImageLibraries.need))
    func loads() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [Images.self]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let loader = ImageLoader(session: session)
        let url = try #require(URL(string: "http://mock.example/a.jpg"))
        let image = try await loader.image(
            for: ImageRequest(url, processors: [.resize(width: 12, height: 12), .circle]))
        #expect(image.bitmap.width == 8 && image.fullSize == PixelSize(width: 48, height: 32))
        #expect(image.format == .jpeg && image.origin == .network)
        let missing = try #require(URL(string: "http://mock.example/b.jpg"))
        await #expect {
            try await loader.image(for: ImageRequest(missing))
        } throws: { error in
            (error as? ImageError)?.status == 404
        }
        let text = Data(TestImages.png(width: 2, height: 2)).base64EncodedString()
        let data = try #require(URL(string: "data:image/png;base64,\(text)"))
        #expect(try await loader.image(for: ImageRequest(data)).bitmap.width == 2)
    }

    @Test("A fetch returns if its task ended before it waits, for example because its caller was cancelled")
    func endedEarly() async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: URLRequest(url: address("a")))
        let fetch = SessionFetch(FetchSink(head: { _ in true }, piece: { _ in true }))
        fetch.urlSession(session, task: task, didCompleteWithError: URLError(.cancelled))
        await #expect(throws: URLError.self) { try await fetch.run(task) }
    }
}
