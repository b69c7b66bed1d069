internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// Where a credential storage keeps its data: in the desktop's Secret Service if one runs with an unlocked keyring, otherwise in a file
/// that only the user can read.
///
/// Calls block, at most two seconds for each request to the service. Once credentials are in the service, the file contains only a note
/// about that. While the service is then unavailable, credentials are neither read nor written: they must not get into a file meanwhile.
struct CredentialVault: Sendable {
    enum Place: Sendable {
        /// The file only, by the user's choice.
        case file
        /// The file, until credentials were in the service.
        case fileWithoutService
        case service(SecretServicePlace)
    }

    /// The environment variable that keeps credentials in the file: `CAUSEWAY_CREDENTIALS=file`.
    static let variable = "CAUSEWAY_CREDENTIALS"
    /// The file content while the credentials are in the service.
    private static let moved = Array("causeway credentials are in the Secret Service\n".utf8)

    let file: PrivateFile
    let place: Place

    /// Returns the stored bytes; `nil` if there are none, or if they cannot be read now.
    func read() -> [UInt8]? {
        let stored = file.read()
        let isMoved = stored == Self.moved
        guard case .service(let service) = place, case .secret(let secret?) = service.perform(.read) else {
            return isMoved ? nil : stored
        }
        return Self.joined(secret, isMoved ? [] : stored ?? [])
    }

    /// Replaces the stored bytes while no other process changes them.
    ///
    /// - Parameter change: Returns the new bytes for the old ones, which are empty if there are none.
    /// - Returns: `false` if nothing was written.
    func update(_ change: ([UInt8]) -> [UInt8]) -> Bool {
        var isWritten = true
        let isReplaced = file.update { stored in
            let isMoved = stored == Self.moved
            if case .service(let service) = place, case .secret(let secret) = service.perform(.read) {
                let new = change(Self.joined(secret ?? [], isMoved ? [] : stored))
                isWritten = service.perform(.write(new)) == .written
                return isWritten ? Self.moved : stored
            }
            if case .file = place { return change(isMoved ? [] : stored) }
            isWritten = !isMoved
            return isMoved ? stored : change(stored)
        }
        return isReplaced && isWritten
    }

    /// Merges the service's credentials with those in the file, which are newer: the user had chosen the file meanwhile.
    private static func joined(_ secret: [UInt8], _ stored: [UInt8]) -> [UInt8] {
        if stored.isEmpty || secret.isEmpty { return stored.isEmpty ? secret : stored }
        return CredentialTable.encode(CredentialTable.decode(secret).merging(CredentialTable.decode(stored)) { $1 })
    }
}

extension CredentialVault.Place {
    /// The location selected by the environment variables.
    static func current(_ application: String, in environment: [String: String]) -> Self {
        if environment[CredentialVault.variable] == "file" { return .file }
        let addresses = SessionBus.addresses(in: environment)
        guard !addresses.isEmpty else { return .fileWithoutService }
        return .service(SecretServicePlace(addresses: addresses, application: application))
    }
}

/// A program's secret in the Secret Service.
struct SecretServicePlace: Sendable {
    private static let patience = Duration.seconds(2)

    let addresses: [DBusAddress]
    let application: String

    /// Performs one operation. Blocks for at most two seconds.
    func perform(_ operation: SecretServiceRequest.Operation) -> SecretServiceRequest.Outcome {
        var request = SecretServiceRequest(
            operation, application: application, label: "Passwords of \(application) for web servers",
            user: System.user)
        let isComplete = SessionBus.converse(addresses, until: System.now + Self.patience) {
            request.takeOutput()
        } _: {
            request.receive($0)
            return request.outcome == nil
        }
        return request.outcome ?? .unavailable(isComplete ? "no answer" : "the session bus does not answer")
    }
}
