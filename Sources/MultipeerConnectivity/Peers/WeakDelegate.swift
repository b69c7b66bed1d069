internal import Causeway
internal import CausewaySystem

/// An object of the program and its delegate, which may be read and set on any thread. Neither is retained.
final class WeakDelegate<Owner: AnyObject, Delegate>: Sendable {
    private final class Faces {
        weak var owner: Owner?
        weak var delegate: AnyObject?
    }

    private let faces = LockedValue(Unchecked(Faces()))

    func attach(_ owner: Owner) {
        let owner = Unchecked(owner)
        faces.withLock { $0.value.owner = owner.value }
    }

    var delegate: Delegate? {
        get { both.value.1 }
        set {
            let delegate = Unchecked(newValue.map { $0 as AnyObject })
            faces.withLock { $0.value.delegate = delegate.value }
        }
    }

    /// The object and its delegate, if both are alive.
    var pair: (owner: Owner, delegate: Delegate)? {
        let (owner, delegate) = both.value
        guard let owner, let delegate else { return nil }
        return (owner, delegate)
    }

    var owner: Owner? { both.value.0 }

    /// Both references are read in one step and released outside the lock, because the last release runs code of the program.
    private var both: Unchecked<(Owner?, Delegate?)> {
        faces.withLock { Unchecked(($0.value.owner, $0.value.delegate as? Delegate)) }
    }
}
