import CausewaySystem
import Dispatch
import Foundation
import Testing

@testable import MultipeerConnectivity

@MainActor
@Suite("The picker's presentation")
struct PickerPresentationTests {
    /// A test browser that uses no network. It only logs its start and stop.
    private final class Browser: MCNearbyServiceBrowser {
        var log: [String] = []
        override func startBrowsingForPeers() { log.append("start") }
        override func stopBrowsingForPeers() { log.append("stop") }
    }

    private final class Delegate: NSObject, MCBrowserViewControllerDelegate, Sendable {
        let cancelCount = LockedValue(0)
        func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {}
        func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
            cancelCount.withLock { $0 += 1 }
        }
    }

    private let browser: Browser
    private let picker: MCBrowserViewController
    private let delegate = Delegate()

    init() {
        let peer = MCPeerID(displayName: "me")
        browser = Browser(peer: peer, serviceType: "abc")
        picker = MCBrowserViewController(browser: browser, session: MCSession(peer: peer))
        picker.delegate = delegate
    }

    private var cancelCount: Int { delegate.cancelCount.withLock { $0 } }

    /// Waits until the main queue has run all blocks that were added before this call.
    private func turn() async {
        await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    }

    @Test("Without a terminal, each presentation is one cancellation, and the program's browser goes on")
    func withoutTerminal() async {
        picker.openTerminal = { nil }
        for count in 1...2 {
            picker.present()
            picker.present()
            #expect(cancelCount == count - 1)
            await turn()
            #expect(cancelCount == count)
            picker.dismiss(animated: true)
        }
        picker.present()
        picker.dismiss(animated: true)
        await turn()
        #expect(cancelCount == 2 && browser.log.isEmpty)
    }

    @Test("A browsing error cancels a list that is shown, and nothing else")
    func browsingError() async {
        picker.browser(browser, didNotStartBrowsingForPeers: MCError(.unknown))
        await turn()
        #expect(cancelCount == 0)
        let terminal = FakeTerminal()
        picker.openTerminal = { terminal }
        picker.present()
        picker.browser(browser, didNotStartBrowsingForPeers: MCError(.unknown))
        await turn()
        #expect(cancelCount == 1)
        picker.dismiss(animated: true)
        #expect(browser.log == ["start", "stop"] && !terminal.isReading)
    }

    @Test("A list that is shown again begins without the peers of the last time")
    func shownAgain() async {
        let terminal = FakeTerminal()
        picker.openTerminal = { terminal }
        picker.present()
        picker.browser(browser, foundPeer: MCPeerID(displayName: "Ann"), withDiscoveryInfo: nil)
        await turn()
        #expect(terminal.written.last?.contains("Ann") == true)
        picker.dismiss(animated: true)
        picker.present()
        #expect(terminal.written.last?.contains("Ann") == false)
        picker.dismiss(animated: true)
        #expect(browser.log == ["start", "stop", "start", "stop"])
    }
}
