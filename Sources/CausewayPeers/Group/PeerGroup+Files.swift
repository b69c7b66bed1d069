internal import CausewayPeerProtocols
package import Foundation

extension PeerGroup {
    /// Sends a file. The completion runs once, on the group's queue: with `nil` when the receiver has stored the whole
    /// file, or with a failure. Examples are `notConnected`, `invalid` if the URL does not refer to a file, and
    /// `excess` if 64 files to the peer are open.
    ///
    /// `progressed` runs on a file queue each time bytes were read for the peer.
    ///
    /// - Returns: A `Progress` object that counts bytes. Its `cancel()` ends the transfer on both sides. The object is
    ///   created on the caller's thread, so it joins the caller's tree of `Progress` objects.
    package func sendFile(
        at url: URL, name: String, to peer: PeerIdentity, hasDigest: Bool = false,
        progressed: @escaping @Sendable (_ sent: Int64, _ total: Int64) -> Void = { _, _ in },
        completion: @escaping @Sendable (PeerFailure?) -> Void
    ) -> Progress {
        let values = try? FileManager.default.attributesOfItem(atPath: url.path)
        let isFile = url.isFileURL && values?[.type] as? FileAttributeType == .typeRegular
        let size = (values?[.size] as? NSNumber)?.uint64Value ?? 0
        let progress = Progress(totalUnitCount: Int64(clamping: size))
        guard isFile else {
            port.queue.async { completion(PeerFailure(.invalid, "\(url.path) is no file that can be read")) }
            return progress
        }
        let file = OutgoingFile(
            OutgoingFile.Source(url: url, size: size, hasDigest: hasDigest), progress, progressed, completion)
        let (node, member, files) = (node, member(peer), port.files)
        let result = node.apply { core, now -> Result<ChannelID, PeerFailure> in
            let offer = ResourceOffer(name: ResourceOffer.safeName(name), size: size)
            guard let channel = core.mesh.offer(offer, to: member, at: now) else {
                guard core.mesh.isConnected(member) else { return .failure(PeerFailure(.notConnected)) }
                let text = "\(PeerLimits.offers) files to the peer are open: wait for one before you send another"
                return .failure(PeerFailure(.excess, text))
            }
            core.request(.run { files.add(file, channel) })
            return .success(channel)
        }
        switch result {
        case .success(let channel): progress.cancellationHandler = { [weak files] in files?.cancel(channel, node) }
        case .failure(let failure): port.queue.async { completion(failure) }
        }
        return progress
    }
}
