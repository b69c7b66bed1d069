import Foundation
import MultipeerConnectivity

/// Sends and receives files and streams for a test program. The streams run on the main run loop.
final class Transfers: NSObject, StreamDelegate {
    private let directory: URL
    private var open: [Stream: (name: String, peer: String, count: Int)] = [:]
    private var watches: [Timer] = []
    var refusesNext = false

    init(_ directory: URL) { self.directory = directory }

    // MARK: Files

    func send(_ path: String, to peer: MCPeerID, _ session: MCSession, cancels: Bool) {
        let url = URL(fileURLWithPath: path)
        let begin = Date()
        let progress = session.sendResource(at: url, withName: url.lastPathComponent, toPeer: peer) { error in
            let seconds = String(format: "%.3f", Date().timeIntervalSince(begin))
            say("sent \(peer.displayName) \(url.lastPathComponent) \(Self.text(error)) \(seconds)")
        }
        guard let progress else { return }
        watch(progress, "sender", cancels: cancels)
    }

    func started(_ name: String, from peer: MCPeerID, _ progress: Progress) {
        say("receives \(peer.displayName) \(name)")
        let refuses = refusesNext
        refusesNext = false
        watch(progress, "receiver", cancels: refuses)
    }

    func finished(_ name: String, from peer: MCPeerID, _ place: URL?, _ error: (any Error)?) {
        // Move the file now, because it is removed when this method returns.
        if let place {
            let target = directory.appendingPathComponent(name)
            try? FileManager.default.removeItem(at: target)
            do { try FileManager.default.moveItem(at: place, to: target) } catch { say("error \(error)") }
        }
        say("received \(peer.displayName) \(name) \(Self.text(error))")
    }

    private static func text(_ error: (any Error)?) -> String {
        error.map { ($0 as? MCError)?.code == .cancelled ? "cancelled" : "\($0.localizedDescription)" } ?? "whole"
    }

    /// Prints a line when the transfer has begun. If `cancels` is `true`, then cancels the transfer.
    private func watch(_ progress: Progress, _ side: String, cancels: Bool) {
        DispatchQueue.main.async {
            let timer = Timer(timeInterval: 0.001, repeats: true) { timer in
                guard progress.completedUnitCount > 0 || progress.isCancelled else { return }
                timer.invalidate()
                say("progress \(side)")
                if cancels { progress.cancel() }
            }
            RunLoop.main.add(timer, forMode: .default)
        }
    }

    // MARK: Streams

    func write(_ count: Int, _ name: String, to peer: MCPeerID, _ session: MCSession) {
        do {
            add(try session.startStream(withName: name, toPeer: peer), name, peer, count)
        } catch {
            say("error \(error.localizedDescription)")
        }
    }

    func read(_ stream: InputStream, _ name: String, from peer: MCPeerID) { add(stream, name, peer, 0) }

    private func add(_ stream: Stream, _ name: String, _ peer: MCPeerID, _ count: Int) {
        DispatchQueue.main.async { [self] in
            open[stream] = (name, peer.displayName, count)
            stream.delegate = self
            stream.schedule(in: .main, forMode: .default)
            stream.open()
        }
    }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        guard let entry = open[aStream] else { return }
        switch (eventCode, aStream) {
        case (.hasSpaceAvailable, let output as OutputStream):
            let block = [UInt8](repeating: 7, count: min(entry.count, 40_000))
            let count = block.isEmpty ? 0 : output.write(block, maxLength: block.count)
            open[aStream]?.count -= max(0, count)
            if open[aStream]?.count == 0 { end(aStream) }
        case (.hasBytesAvailable, let input as InputStream):
            var block = [UInt8](repeating: 0, count: 40_000)
            let count = max(0, input.read(&block, maxLength: block.count))
            if block.prefix(count).contains(where: { $0 != 7 }) { say("fault in stream \(entry.name)") }
            open[aStream]?.count += count
        case (.endEncountered, is InputStream):
            say("stream \(entry.peer) \(entry.name) \(entry.count)")
            end(aStream)
        case (.errorOccurred, _):
            say("stream \(entry.peer) \(entry.name) failed")
            end(aStream)
        default: break
        }
    }

    private func end(_ stream: Stream) {
        stream.close()
        stream.remove(from: .main, forMode: .default)
        open[stream] = nil
    }
}
