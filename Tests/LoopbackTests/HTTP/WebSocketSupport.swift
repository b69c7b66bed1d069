import CausewaySystem
import CausewayTestKit
import CausewayURLLoading
import CausewayWire
import Foundation

/// A session delegate that records the calls for WebSocket tasks as text, in order.
final class WebSocketDelegate: NSObject, URLSessionWebSocketDelegate, @unchecked Sendable {
    typealias Challenge =
        @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)

    private let list = LockedValue<[String]>([])
    private let answer: Challenge?
    let opened = Gate()
    let end = Gate()

    init(answer: Challenge? = nil) { self.answer = answer }

    var events: [String] { list.withLock { $0 } }

    func note(_ event: String) { list.withLock { $0.append(event) } }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        note("opened \(`protocol` ?? "-")")
        opened.open()
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        note("closed \(closeCode.rawValue) \(String(decoding: reason ?? Data(), as: UTF8.self))")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("challenge \(challenge.protectionSpace.authenticationMethod.dropFirst(25))")
        let (disposition, credential) = answer?(challenge) ?? (.performDefaultHandling, nil)
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("redirect \(response.statusCode) \(request.url?.scheme ?? "") \(request.url?.path ?? "")")
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        let names = metrics.transactionMetrics.map { $0.networkProtocolName ?? "-" }
        note("metrics \(names.joined(separator: " "))")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("completed\(error.map { " \(webSocketErrorText($0))" } ?? "")")
        end.open()
    }
}

/// Returns the name of an error.
func webSocketErrorText(_ error: any Error) -> String {
    switch error {
    case let error as URLError: "\(error.code)"
    case let error as POSIXError: "\(error.code)"
    default: "\(error)"
    }
}

extension URLSessionWebSocketTask {
    /// Receives a message as text, or returns the name of the error.
    func hear() async -> String {
        do {
            switch try await receive() {
            case .string(let text): return text
            case .data(let data): return "data \(data.count)"
            }
        } catch {
            return webSocketErrorText(error)
        }
    }

    /// Sends a text message. Returns the error as text; `nil` if there is none.
    func say(_ text: String) async -> String? {
        do {
            try await send(.string(text))
            return nil
        } catch {
            return webSocketErrorText(error)
        }
    }
}

/// Returns the response that accepts a handshake.
func acceptance(_ request: ScriptedRequest, _ fields: [String] = []) -> String {
    let accept = WebSocketAccept.value(for: request["sec-websocket-key"] ?? "")
    let lines = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: \(accept)"] + fields
    return "HTTP/1.1 101 Switching Protocols\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n"
}

/// Returns an unmasked text frame of at most 125 bytes.
func textFrame(_ text: String) -> [UInt8] { [0x81, UInt8(text.utf8.count)] + Array(text.utf8) }
