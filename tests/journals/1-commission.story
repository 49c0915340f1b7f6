   0.002s > commission.1: started by UID 0 (btctl), with device="cam7"
   0.002s * Commission: running
   0.002s * Commission/Identify: running
   0.003s > Commission/Identify: set report="cam7 rev 2"
   0.003s + Commission/Identify: success after 1.38ms
   0.003s * Commission/ForceSuccess: running
   0.003s * Commission/ForceSuccess/Upload: running
   0.003s * Commission/ForceSuccess/Upload/Send: running
   0.008s x Commission/ForceSuccess/Upload/Send: failure after 4.8ms: exited with status 75
   0.031s . Commission/ForceSuccess/Upload: its time is over
   0.031s * Commission/ForceSuccess/Upload/Send: running
   0.032s x Commission/ForceSuccess/Upload/Send: failure after 1.42ms: exited with status 75
   0.032s x Commission/ForceSuccess/Upload: failure after 28.7ms: failed 2 times; last: exited with status 75
   0.032s + Commission/ForceSuccess: success after 28.7ms
   0.032s * Commission/Prepare: running
   0.032s * Commission/Prepare/WarmUp: running
   0.032s * Commission/Prepare/Lamp: running
   0.032s + Commission/Prepare/Calm: success
   0.032s > Commission/Prepare/Optional: skipped: its skip_if is true: calm (calm is true)
   0.032s * Commission/Prepare/Soon: running
   0.032s * Commission/Prepare/Soon/Never: running
   0.062s . Commission/Prepare/Soon: its time is over
   0.062s # Commission/Prepare/Soon/Never: halted after 30.2ms: stopped by Commission/Prepare/Soon
   0.062s x Commission/Prepare/Soon: failure after 30.2ms: timed out after 30ms
   0.077s + Commission/Prepare/WarmUp: success after 44.4ms
   0.077s . Commission/Prepare/Lamp: has been given the lock 'bench'
   0.087s + Commission/Prepare/Lamp: success after 54.7ms
   0.087s + Commission/Prepare: success after 54.7ms
   0.087s * Commission/Gate: running
   0.297s = Commission/Watch: has a breakpoint from now on
   0.320s = commission.1: paused
   0.349s ! Commission/Gate: is given the outcome success, forced by UID 0 (btctl)
   0.380s > commission.1: goes one tick further
   0.380s # Commission/Gate: halted after 293ms
   0.380s + Commission/Gate: success: forced by UID 0 (btctl)
   0.380s * Commission/Doubtful: running
   0.397s > commission.1: resumed
   0.418s ! Commission/Doubtful: is given the outcome success, forced by UID 0 (btctl)
   0.418s # Commission/Doubtful: halted after 37.5ms
   0.418s + Commission/Doubtful: success: forced by UID 0 (btctl)
   0.418s = Commission/Watch: stands at its breakpoint
   0.582s > commission.1: resumed
   0.583s * Commission/Watch: running
   0.583s + Commission/Watch/StillCalm: success
   0.583s * Commission/Watch/Work: running
   0.612s > commission.1: set calm=false
   0.612s x Commission/Watch/StillCalm: failure: calm is false (calm is false)
   0.612s # Commission/Watch/Work: halted after 29.5ms: stopped by Commission/Watch
   0.612s + Commission/Watch/Complain: success
   0.612s + Commission/Watch: success after 29.5ms
   0.612s * Commission/Burn: running
   0.612s * Commission/Burn/Soak: running
   0.838s = Commission/Watch: has no breakpoint any more
   0.849s * commission.1: halting, halted by UID 0 (btctl)
   0.849s # Commission/Burn/Soak: halted after 237ms by UID 0 (btctl)
   0.849s + Commission/Burn/Tidy: success
   0.849s # Commission/Burn: halted after 237ms by UID 0 (btctl)
   0.849s # Commission: halted after 847ms by UID 0 (btctl)
   0.849s # commission.1: halted after 849ms by UID 0 (btctl)
