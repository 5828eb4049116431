// A submodule for `import GameKit.GKPeerPickerController`; the declarations are in Swift.
#pragma once
