import CausewayTypes
import CausewayWire
import FoundationEssentials

@testable import CausewayHTTP

/// A test request, with the reader of its response.
struct TestRequest {
    let reader = HTTPResponseReader()
    let handle: HTTPRequestHandle

    init(_ core: HTTPEngineCore, _ request: HTTPRequestValue, _ body: HTTPRequestBody = .none) {
        let exchange = core.makeExchange(request, body, reader, isBuffered: true)
        core.start(exchange)
        handle = HTTPRequestHandle(exchange: exchange, core: core)
    }

    func head() async throws -> HTTPResponseHead { try await reader.awaitHead().get() }
    func piece() async throws -> Data? { try await reader.awaitPiece(handle).get() }
}
