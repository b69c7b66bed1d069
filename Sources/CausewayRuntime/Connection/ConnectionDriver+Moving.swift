internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Reacts to the loss of a connection's local address.
extension ConnectionDriver {
    /// How long the interface has to restore the lost address before a stream fails. A restarting DHCP client restores
    /// it within this time.
    private static let renumberingLimit = Duration.seconds(2)

    /// Whether the connection's datagrams may be sent from another local address. The peer then sees a different
    /// sender, so this is not permitted for protocols with a session, nor for datagrams through a relaying proxy.
    var canMove: Bool {
        guard settings.transport == .udp, settings.localAddress == nil, frozen.makeLayers == nil, frozen.routes.isEmpty,
            frozen.planner == nil, case .connect = progress.withLock({ progress in progress.origin })
        else { return false }
        return flow.addresses?.remote?.isLoopback == false
    }

    /// Handles the local address's loss. A datagram connection moves to another network; a stream fails if the
    /// interface does not restore the address in time.
    func leaveLostAddress(in model: NetworkModel, _ follower: PathFollower) {
        if settings.transport == .udp {
            guard follower.hasLostPath(in: model), canMove, move(in: model), let followed else { return }
            follower.moved(to: followed)
        } else if follower.noteRenumbering(in: model) {
            _ = flow.loop.schedule(after: Self.renumberingLimit) { [weak self] in
                // No packet can arrive at the lost address. Without this failure, the kernel would retransmit for about
                // 15 minutes before it reports an error.
                if follower.isRenumbered { self?.flow.fail(Failure(errno: Errno.connectionAborted)) }
            }
        }
    }

    /// Moves the socket to another network path. Returns whether this succeeded.
    private func move(in model: NetworkModel) -> Bool {
        guard let remote = flow.addresses?.remote, let way = settings.ways(toward: remote, in: model).first else {
            return false
        }
        let isBound = settings.requiredInterface != nil || !way.isKernelChoice
        return flow.withDescriptor { fd in
            do throws(SystemError) {
                try Socket.reconnect(fd, to: remote, over: isBound ? way.interface.name : nil)
                return true
            } catch {
                return false
            }
        } ?? false
    }
}
