internal import CausewayPeers
internal import CausewaySystem
internal import CausewayURLLoading
internal import Foundation

/// Downloads a resource from a web server into a temporary file, then sends the file.
final class FetchedResource: Sendable {
    private let url: URL
    private let name: String
    private let peer: PeerIdentity
    private let engine: any SessionEngine
    /// The number of progress units for each half of the work. One half is the download, and the other half is the
    /// transfer to the peer.
    private static let halfWork: Int64 = 500

    init(url: URL, name: String, peer: PeerIdentity, engine: any SessionEngine) {
        (self.url, self.name, self.peer, self.engine) = (url, name, peer, engine)
    }

    /// Starts the download. The completion is called once, on any thread, with `nil` or an ``MCError``.
    func start(_ completion: @escaping @Sendable (MCError?) -> Void) -> Progress {
        let progress = Progress(totalUnitCount: 2 * Self.halfWork)
        let task = URLSession.shared.downloadTask(with: url) { [self] file, response, error in
            if progress.isCancelled { return completion(MCError(.cancelled)) }
            if let error { return completion(MCError(.unavailable, "download failed: \(error.localizedDescription)")) }
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            guard let file, (200..<300).contains(status) else {
                return completion(MCError(.unavailable, "download failed: the server answered with status \(status)"))
            }
            forward(file, progress, completion)
        }
        progress.addChild(task.progress, withPendingUnitCount: Self.halfWork)
        task.resume()
        return progress
    }

    /// Sends the downloaded file to the peer. `URLSession` deletes the file when the completion handler returns. This
    /// method therefore moves the file to another place first.
    private func forward(_ file: URL, _ progress: Progress, _ completion: @escaping @Sendable (MCError?) -> Void) {
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("multipeer-\(UUID().uuidString)")
        do {
            try FileManager.default.moveItem(at: file, to: copy)
        } catch {
            return completion(MCError(.unknown, "cannot keep the download: \(error.localizedDescription)"))
        }
        let transfer = engine.sendFile(at: copy, name: name, to: peer) { failure in
            try? FileManager.default.removeItem(at: copy)
            completion(failure.map { MCError($0) })
        }
        progress.addChild(transfer, withPendingUnitCount: Self.halfWork)
        // The progress may have been cancelled after the download and before addChild(). That cancellation has not
        // reached the transfer. So cancel the transfer now.
        if progress.isCancelled { transfer.cancel() }
    }
}
