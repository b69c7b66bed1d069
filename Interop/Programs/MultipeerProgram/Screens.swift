import Foundation
import MultipeerConnectivity

/// The user interface of the test program: the advertiser assistant and the peer picker.
@MainActor final class Screens: NSObject {
    private let member: Member
    private var assistant: MCAdvertiserAssistant?
    private var picker: MCBrowserViewController?

    init(_ member: Member) { self.member = member }

    func assist() {
        let assistant = MCAdvertiserAssistant(serviceType: "cw-accept", discoveryInfo: nil, session: member.session)
        self.assistant = assistant
        assistant.delegate = self
        assistant.start()
        say("advertises")
    }

    func pick() {
        let picker = MCBrowserViewController(serviceType: "cw-accept", session: member.session)
        self.picker = picker
        picker.delegate = self
        picker.present(animated: true)
    }
}

extension Screens: MCAdvertiserAssistantDelegate {
    nonisolated func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        say("asks")
    }

    nonisolated func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
        say("dismisses")
    }
}

extension Screens: @preconcurrency MCBrowserViewControllerDelegate {
    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
        end(browserViewController, "finished")
    }

    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
        end(browserViewController, "cancelled")
    }

    private func end(_ picker: MCBrowserViewController, _ word: String) {
        let names = member.session.connectedPeers.map(\.displayName).sorted().joined(separator: ",")
        picker.dismiss(animated: true) {
            say("\(word) \(names)")
            exit(0)
        }
    }
}
