import Distributed

/// What every published object has beside its own interface: a sign of life. `objectMethods` has what it does.
let objectInterface = RemoteInterface(
  "piconet.object", of: (any DistributedActor).self, methods: [.method("ping") { _ in }])

/// The methods of `objectInterface` for an object.
func objectMethods<Object: RemoteObject>(of object: Object) -> RemoteInterface.BoundMethods {
  [
    "ping": BoundMethod { arguments in
      try arguments.finish()
      // Answers when the object has got to it.
      await object.whenLocal { _ in }
      return RemoteArguments.nothing
    }
  ]
}
