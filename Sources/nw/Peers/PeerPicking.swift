import ArgumentParser
import CausewayTypes
import Foundation
import MultipeerConnectivity

/// `nw peers pick`: shows the picker, and prints the names of the connected peers.
@MainActor
final class PeerPicking: NSObject, MCBrowserViewControllerDelegate {
    private enum End {
        case done, cancelled
    }

    private let session: MCSession
    private let picker: MCBrowserViewController
    private var waiter: CheckedContinuation<End, Never>?

    private init(_ service: String, name: String) {
        session = MCSession(peer: MCPeerID(displayName: name))
        picker = MCBrowserViewController(serviceType: service, session: session)
        super.init()
        picker.delegate = self
    }

    /// - Throws: ``CommandFailure`` if there is no terminal, or if the user cancels.
    static func run(_ service: String, name: String) async throws {
        let picking = PeerPicking(service, name: name)
        let end = await withCheckedContinuation { continuation in
            picking.waiter = continuation
            picking.picker.present()
        }
        let names = picking.session.connectedPeers.map(\.displayName)
        picking.session.disconnect()
        guard end == .done else {
            throw CommandFailure("nothing was picked: cancelled, or there is no terminal in the foreground")
        }
        for name in names { printLine("\(name)") }
    }

    nonisolated func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
        MainActor.assumeIsolated { self.end(.done) }
    }

    nonisolated func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
        MainActor.assumeIsolated { self.end(.cancelled) }
    }

    private func end(_ end: End) {
        picker.dismiss(animated: false)
        waiter.take()?.resume(returning: end)
    }
}
