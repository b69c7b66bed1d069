internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// Reacts to the loss of a connection's local address.
extension ConnectionDriver {
    /// The time that the interface has to restore a lost address before a stream fails. A restarting DHCP client
    /// restores the address within this time.
    private static let renumberingLimit = Duration.seconds(2)

    /// Whether the connection may continue from another local address. Only a UDP connection may do so, and the peer
    /// then sees a different sender. The change is not possible if the connection uses a protocol with a session, or a
    /// relaying proxy.
    var canMove: Bool {
        guard settings.transport == .udp, settings.localAddress == nil, frozen.makeLayers == nil, frozen.routes.isEmpty,
            frozen.planner == nil, case .connect = progress.withLock({ progress in progress.origin })
        else { return false }
        return flow.addresses?.remote?.isLoopback == false
    }

    /// Reacts to the loss of the local address.
    ///
    /// A datagram connection moves to another network. A stream connection fails, unless the interface gets the address
    /// back in time.
    func leaveLostAddress(in model: NetworkModel, _ follower: PathFollower) {
        if settings.transport == .udp {
            guard follower.hasLostPath(in: model), canMove, move(in: model), let followed else { return }
            follower.moved(to: followed)
        } else if follower.noteRenumbering(in: model) {
            _ = flow.loop.schedule(after: Self.renumberingLimit) { [weak self] in
                // The lost address receives no more packets. So let the connection fail here. The kernel would
                // retransmit for about 15 minutes before it reports an error.
                if follower.isRenumbered { self?.flow.fail(Failure(errno: Errno.connectionAborted)) }
            }
        }
    }

    /// Moves the connection's socket to another network path. Returns whether this succeeded.
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
