internal import CausewayPeerProtocols
internal import Distributed

extension PeerActorSystem {
    /// Starts an actor's pending calls in order. Only one task at a time processes an actor's calls.
    ///
    /// `Task.immediate` runs a call until the call first suspends, usually to wait for its actor. Only then does the
    /// next call start, so the calls reach the actor in order. A call that suspends inside the actor does not delay the
    /// next call.
    func drainMailbox(_ actor: UInt64) async {
        while let (call, service) = apply({ $0.nextCall(for: actor) }) {
            let task = Task.immediate {
                let reply = await self.result(of: call)
                self.apply { $0.finished(service, reply) }
            }
            apply { $0.started(service, task) }?.cancel()
        }
    }

    private func result(of call: ActorCall) async -> ActorReply {
        guard let (actor, type) = state.withLock({ $0.local.shared(call.actor) }) else {
            return .refused(.unknownActor, "the actor does not exist, or is not shared")
        }
        guard let type else {
            return .refused(.unsupported, "the type of the actor is private or generic")
        }
        guard targets.permits(call.target, of: type) else {
            return .refused(.unknownTarget, "\(type) has no such distributed function")
        }
        return await perform(call, actor)
    }

    private func perform(_ call: ActorCall, _ actor: some DistributedActor) async -> ActorReply {
        var decoder = PeerInvocationDecoder(self, call.arguments)
        let handler = PeerResultHandler(self)
        do {
            try await executeDistributedTarget(
                on: actor, target: RemoteCallTarget(call.target), invocationDecoder: &decoder, handler: handler)
        } catch {
            handler.result.threw(error)
        }
        return handler.result.value ?? .refused(.invalidResult, "the function has no result")
    }
}
