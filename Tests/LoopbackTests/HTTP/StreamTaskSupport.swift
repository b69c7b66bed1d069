import CausewayProtocols
import CausewaySystem
import CausewayTestKit
import CausewayTLS
import CausewayURLLoading
import Foundation

@testable import Causeway

/// A delegate that records the calls for stream tasks as text, in order. It also keeps the streams.
final class StreamTaskDelegate: NSObject, URLSessionStreamDelegate, @unchecked Sendable {
    typealias Challenge =
        @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)

    private let list = LockedValue<[String]>([])
    private let kept = LockedValue<Unchecked<(InputStream, OutputStream)?>>(Unchecked(nil))
    private let answer: Challenge?
    let end = Gate()
    let captured = Gate()
    let readClosed = Gate()

    init(answer: Challenge? = nil) { self.answer = answer }

    var events: [String] { list.withLock { $0 } }
    var streams: Unchecked<(InputStream, OutputStream)?> { kept.withLock { $0 } }

    private func note(_ event: String) { list.withLock { $0.append(event) } }

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        note("read closed")
        readClosed.open()
    }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) { note("write closed") }

    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        note("became streams")
        let streams = Unchecked<(InputStream, OutputStream)?>((inputStream, outputStream))
        kept.withLock { $0 = streams }
        captured.open()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        note("challenge \(space.authenticationMethod.dropFirst(25)) \(space.host)")
        let (disposition, credential) = answer?(challenge) ?? (.performDefaultHandling, nil)
        completionHandler(disposition, credential)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("completed\((error as? URLError).map { " \($0.code.rawValue)" } ?? "")")
        end.open()
    }
}

/// The server side of TLS on a socket that carried data without TLS before.
final class SecurePeer {
    private let socket: RawSocket
    private var stage: TLSStage

    /// Runs the handshake.
    init(_ socket: RawSocket, _ options: NWProtocolTLS.Options) async throws {
        self.socket = socket
        let layer = try makeTLSLayer(options, isServer: true, isDatagram: false, host: nil, port: 0)
        guard let stage = layer.stage as? TLSStage else { throw NWError.posix(.EINVAL) }
        self.stage = stage
        self.stage.start(at: .zero)
        while self.stage.status != .ready { try await step() }
        try await flush()
    }

    func read(line: Void) async throws -> String {
        var text = ""
        while text.utf8.last != UInt8(ascii: "\n") {
            guard let chunk = stage.nextInbound(atMost: 1) else {
                try await step()
                continue
            }
            guard !chunk.isFinal else { break }
            text += String(decoding: chunk.bytes.bytes, as: UTF8.self)
        }
        return text
    }

    func write(_ text: String, isFinal: Bool = false) async throws {
        stage.send(MessageChunk(Array(text.utf8), endsMessage: isFinal, isFinal: isFinal), at: .zero)
        try await flush()
    }

    private func flush() async throws {
        while let chunk = stage.nextOutbound(atMost: 65_536) {
            if !chunk.bytes.isEmpty { try await socket.write(Data(chunk.bytes.bytes)) }
        }
    }

    private func step() async throws {
        try await flush()
        var isProgress = false
        while let event = stage.nextEvent() as? TLSEvent {
            isProgress = true
            if case .step(let step) = event { stage.stepEnded(step.run()) }
            if case .failed(let failure) = event {
                try await flush()
                throw failure
            }
        }
        try await flush()
        guard !isProgress else { return }
        let piece = try await socket.read()
        if piece.isEmpty {
            stage.receive(.end, at: .zero)
        } else {
            stage.receive(MessageChunk([UInt8](piece), endsMessage: false), at: .zero)
        }
        if case .failed = stage.status { throw NWError.posix(.ECONNRESET) }
    }
}

extension URLSessionStreamTask {
    /// Reads at least one byte. Returns the bytes as text, plus `.` at the end of the stream. If the read fails,
    /// returns the error code as text.
    func hear(_ minimum: Int = 1, _ maximum: Int = 65_536, timeout: TimeInterval = 0) async -> String {
        do {
            let (data, isAtEnd) = try await readData(ofMinLength: minimum, maxLength: maximum, timeout: timeout)
            return String(decoding: data ?? Data(), as: UTF8.self) + (isAtEnd ? "." : "")
        } catch {
            return "\((error as? URLError)?.code.rawValue ?? 0)"
        }
    }

    /// Writes text. Returns the code of the error; `nil` if there is none.
    func say(_ text: String, timeout: TimeInterval = 0) async -> Int? {
        do {
            try await write(Data(text.utf8), timeout: timeout)
            return nil
        } catch {
            return (error as? URLError)?.code.rawValue ?? 0
        }
    }
}
